// Reports of sessions: texts and values, metadata, timeline, playback.
#include <winstring.h>

#include <string>

#include "fake_object.h"

namespace fake {

HRESULT makeText(const std::string& text, HSTRING* result) {
  const int length = static_cast<int>(text.size());
  std::wstring wide(text.size(), L'\0');
  const int units = MultiByteToWideChar(CP_UTF8, 0, text.data(), length, wide.data(), length);
  // A test writes half a character as <D800>.
  wide.resize(static_cast<std::size_t>(units));
  const auto half = wide.find(L"<D800>");
  if (half != std::wstring::npos) wide.replace(half, 6, 1, static_cast<wchar_t>(0xD800));
  if (text == "<long>") wide.assign(100'000, L'x');
  return WindowsCreateString(wide.data(), static_cast<UINT32>(wide.size()), result);
}

std::string toldBy(const Object* self, const char* key) {
  const Guard guard(mutexOf());
  const auto found = self->session->told.find(key);
  return found == self->session->told.end() ? "-" : found->second;
}

namespace {

HRESULT tellText(Object* self, const char* slotName, const char* key, HSTRING* result) {
  count(slotName);
  const std::string text = toldBy(self, key);
  *result = nullptr;
  if (text == "!") return E_FAIL;
  return text == "-" ? S_OK : makeText(text, result);
}

template <class Value>
HRESULT STDMETHODCALLTYPE getValue(Object* self, Value* value) {
  count("Reference.getValue");
  if (self->text == "!") return E_FAIL;
  *value = static_cast<Value>(numberOf<double>(self->text));
  return S_OK;
}
template <class Value>
const Slot* referenceSlots() {
  static const Slot slots[] = {FAKE_INSPECTABLE, slot(&getValue<Value>)};
  return slots;
}
template <class Value>
HRESULT tellReference(Object* self, const char* slotName, const char* key, Object** result) {
  count(slotName);
  const std::string text = toldBy(self, key);
  *result = nullptr;
  if (text == "-") return S_OK;
  if (text == "!!") return E_FAIL;
  *result = new Object(referenceSlots<Value>(), kInspectableId, "reference");
  (*result)->text = text;
  return S_OK;
}

#define FAKE_TEXT(NAME, KEY)                                    \
  HRESULT STDMETHODCALLTYPE NAME(Object* self, HSTRING* text) { \
    return tellText(self, "MediaProperties." #NAME, KEY, text); \
  }
FAKE_TEXT(getTitle, "title")
FAKE_TEXT(getAlbumArtist, "albumartist")
FAKE_TEXT(getArtist, "artist")
FAKE_TEXT(getAlbumTitle, "album")
// Title, Subtitle, AlbumArtist, Artist, AlbumTitle, TrackNumber, Genres, AlbumTrackCount, PlaybackType,
// Thumbnail
}  // namespace
const Slot kPropertiesSlots[] = {FAKE_INSPECTABLE,
                                 slot(&getTitle),
                                 no(),
                                 slot(&getAlbumArtist),
                                 slot(&getArtist),
                                 slot(&getAlbumTitle),
                                 no(),
                                 no(),
                                 no(),
                                 no(),
                                 no()};

namespace {

#define FAKE_TIME(NAME, KEY)                                         \
  HRESULT STDMETHODCALLTYPE NAME(Object* self, std::int64_t* time) { \
    count("TimelineProperties." #NAME);                              \
    const std::string text = toldBy(self, KEY);                      \
    *time = text == "-" ? 0 : numberOf<std::int64_t>(text);          \
    return text == "!" ? E_FAIL : S_OK;                              \
  }
FAKE_TIME(getStartTime, "start")
FAKE_TIME(getEndTime, "end")
FAKE_TIME(getPosition, "position")
FAKE_TIME(getLastUpdatedTime, "updated")
// StartTime, EndTime, MinSeek, MaxSeek, Position, LastUpdatedTime
}  // namespace
const Slot kTimelineSlots[] = {FAKE_INSPECTABLE,   slot(&getStartTime),      slot(&getEndTime), no(), no(),
                               slot(&getPosition), slot(&getLastUpdatedTime)};

namespace {

// Places in PlaybackControls.
constexpr int kEnabledPlay = 0;
constexpr int kEnabledPause = 1;
constexpr int kEnabledStop = 2;
constexpr int kEnabledNext = 6;
constexpr int kEnabledPrevious = 7;
constexpr int kEnabledToggle = 10;
constexpr int kEnabledPosition = 14;

template <int kPlace>
HRESULT STDMETHODCALLTYPE getIsEnabled(Object* self, unsigned char* isEnabled) {
  count("PlaybackControls." + std::to_string(kPlace));
  const std::string text = toldBy(self, "enabled");
  if (text == "!") return E_FAIL;
  const long mask = text == "-" ? 0xFFFF : numberOf<long>(text);
  *isEnabled = (mask >> kPlace & 1) != 0 ? 1 : 0;
  return S_OK;
}
const Slot kControlsSlots[] = {FAKE_INSPECTABLE,
                               slot(&getIsEnabled<kEnabledPlay>),
                               slot(&getIsEnabled<kEnabledPause>),
                               slot(&getIsEnabled<kEnabledStop>),
                               no(),
                               no(),
                               no(),
                               slot(&getIsEnabled<kEnabledNext>),
                               slot(&getIsEnabled<kEnabledPrevious>),
                               no(),
                               no(),
                               slot(&getIsEnabled<kEnabledToggle>),
                               no(),
                               no(),
                               no(),
                               slot(&getIsEnabled<kEnabledPosition>)};

HRESULT STDMETHODCALLTYPE getControls(Object* self, Object** controls) {
  count("PlaybackInfo.getControls");
  *controls = nullptr;
  if (toldBy(self, "enabled") == "!!") return E_FAIL;
  *controls = new Object(kControlsSlots, kInspectableId, "controls");
  (*controls)->session = self->session;
  return S_OK;
}
HRESULT STDMETHODCALLTYPE getPlaybackStatus(Object* self, int* status) {
  count("PlaybackInfo.getPlaybackStatus");
  const std::string text = toldBy(self, "status");
  *status = text == "-" ? 0 : numberOf<int>(text);
  return text == "!" ? E_FAIL : S_OK;
}
HRESULT STDMETHODCALLTYPE getAutoRepeatMode(Object* self, Object** mode) {
  return tellReference<int>(self, "PlaybackInfo.getAutoRepeatMode", "repeat", mode);
}
HRESULT STDMETHODCALLTYPE getPlaybackRate(Object* self, Object** rate) {
  return tellReference<double>(self, "PlaybackInfo.getPlaybackRate", "rate", rate);
}
HRESULT STDMETHODCALLTYPE getIsShuffleActive(Object* self, Object** isActive) {
  return tellReference<unsigned char>(self, "PlaybackInfo.getIsShuffleActive", "shuffle", isActive);
}
// Controls, PlaybackStatus, PlaybackType, AutoRepeatMode, PlaybackRate, IsShuffleActive
}  // namespace
const Slot kInfoOfPlaybackSlots[] = {
    FAKE_INSPECTABLE,         slot(&getControls),     slot(&getPlaybackStatus), no(),
    slot(&getAutoRepeatMode), slot(&getPlaybackRate), slot(&getIsShuffleActive)};

}  // namespace fake
