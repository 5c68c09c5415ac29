// Windows.Media.Control as a DLL: a session manager whose sessions a test makes up. Its tables of functions
// are laid out by hand, slot by slot, and share nothing with the interfaces that the product is written
// against.
#include "fake_smtc.h"

#include <activation.h>
#include <hstring.h>
#include <windows.h>
#include <winstring.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Slot = const void*;
using std::chrono::milliseconds;

// Held while anything below is touched, and never while a handler is called.
std::recursive_mutex& mutexOf() {
  static std::recursive_mutex mutex;
  return mutex;
}
using Guard = std::lock_guard<std::recursive_mutex>;

std::map<std::string, long>& counts() {
  static std::map<std::string, long> all;
  return all;
}
void count(const std::string& name) {
  const Guard guard(mutexOf());
  ++counts()[name];
}

std::atomic<long> live{0};
std::int64_t lastPosition = -1;

GUID guidOf(const wchar_t* text) {
  GUID id{};
  IIDFromString(text, &id);
  return id;
}
bool is(REFIID id, const wchar_t* text) { return IsEqualGUID(id, guidOf(text)); }

// ---- What a test has made up
// ----------------------------------------------------------------------------------

struct Handler {
  std::int64_t token;
  IUnknown* handler;
};

struct Session {
  std::string id;
  std::string name;
  std::map<std::string, std::string> told;
  std::map<std::string, long> behaviour;
  std::map<std::string, std::vector<Handler>> handlers;
  int generation = 0;
};

struct World {
  std::vector<std::shared_ptr<Session>> sessions;
  std::string current;
  std::map<std::string, long> behaviour;
  std::vector<Handler> handlers;  // SessionsChanged
  std::int64_t lastToken = 0;
};
World& world() {
  static World all;
  return all;
}

long behaviourOf(const std::map<std::string, long>& all, const char* key) {
  const auto found = all.find(key);
  return found == all.end() ? 0 : found->second;
}

// ---- Objects
// --------------------------------------------------------------------------------------------------

// The table comes first: that is what a pointer to an interface points to.
struct Object {
  const Slot* slots;
  std::atomic<ULONG> references{1};
  const wchar_t* id;
  std::shared_ptr<Session> session;
  std::string text;               // what a reference or a list holds
  std::vector<Object*> elements;  // a list's
  IUnknown* handler = nullptr;    // an operation's
  Object* result = nullptr;       // an operation's, of its own
  bool isTrue = false;
  HRESULT error = S_OK;
  bool isInfo = false;
  Object* owner = nullptr;  // of an information about an operation

  Object(const Slot* table, const wchar_t* name) : slots(table), id(name) { ++live; }
  ~Object() {
    --live;
    for (Object* element : elements) release(element);
    if (result != nullptr) release(result);
    if (owner != nullptr) release(owner);
    if (handler != nullptr) handler->Release();
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  static void release(Object* object) {
    if (--object->references == 0) delete object;
  }
};

extern const Slot kInfoSlots[];
constexpr const wchar_t* kUnknownId = L"{00000000-0000-0000-C000-000000000046}";
constexpr const wchar_t* kInspectableId = L"{AF86E2E0-B12D-4C6A-9C5A-D7AA65101E90}";
constexpr const wchar_t* kAgileId = L"{94EA2B94-E9CC-49E0-C0FF-EE64CA8F5B90}";
constexpr const wchar_t* kInfoId = L"{00000036-0000-0000-C000-000000000046}";

std::map<Session*, Object*>& wrappers() {
  static std::map<Session*, Object*> all;
  return all;
}

HRESULT STDMETHODCALLTYPE queryInterface(Object* self, REFIID id, void** result) {
  const bool isMute = self->session && behaviourOf(self->session->behaviour, "noinfo") != 0;
  if (is(id, kInfoId) && self->handler != nullptr && !isMute) {
    auto* const info = new Object(kInfoSlots, kInfoId);
    ++self->references;
    info->owner = self;
    *result = info;
    return S_OK;
  }
  if (!is(id, kUnknownId) && !is(id, kInspectableId) && !is(id, self->id)) {
    *result = nullptr;
    count("no interface");
    return E_NOINTERFACE;
  }
  ++self->references;
  *result = self;
  return S_OK;
}
ULONG STDMETHODCALLTYPE addRef(Object* self) { return ++self->references; }
ULONG STDMETHODCALLTYPE release(Object* self) {
  const ULONG left = self->references - 1;
  Object::release(self);
  return left;
}
HRESULT STDMETHODCALLTYPE unexpected(Object*) {
  count("unexpected");
  return E_NOTIMPL;
}

template <class Function>
Slot slot(Function* function) {
  return reinterpret_cast<Slot>(function);
}
Slot no() { return slot(&unexpected); }

// A table: IUnknown's three, IInspectable's three that nobody calls, then the interface's own.
template <std::size_t kOwn>
struct Table {
  Slot slots[6 + kOwn];
};
#define FAKE_INSPECTABLE slot(&queryInterface), slot(&addRef), slot(&release), no(), no(), no()

// ---- IAsyncOperation, IAsyncInfo
// ------------------------------------------------------------------------------

using Invoke = HRESULT(STDMETHODCALLTYPE*)(IUnknown*, void*, void*);
using InvokeStatus = HRESULT(STDMETHODCALLTYPE*)(IUnknown*, void*, int);

template <class Function>
Function invokeOf(IUnknown* handler) {
  // Slot 3 of a handler, behind IUnknown's.
  return reinterpret_cast<Function>((*reinterpret_cast<void***>(handler))[3]);
}

bool isHandler(IUnknown* handler, const wchar_t* id) {
  for (const wchar_t* each : {id, kAgileId, kUnknownId}) {
    void* found = nullptr;
    if (FAILED(handler->QueryInterface(guidOf(each), &found))) {
      count("no handler");
      return false;
    }
    static_cast<IUnknown*>(found)->Release();
  }
  void* other = nullptr;
  if (handler->QueryInterface(guidOf(kInfoId), &other) != E_NOINTERFACE || other != nullptr)
    count("no handler");
  return true;
}

// How an operation ends: from `behaviour`, which is its session's or the manager's.
HRESULT complete(Object* self, IUnknown* handler, const wchar_t* handlerId,
                 const std::map<std::string, long>& behaviour) {
  if (!isHandler(handler, handlerId)) return E_INVALIDARG;
  handler->AddRef();
  self->handler = handler;
  if (behaviourOf(behaviour, "broken") == 2) return E_UNEXPECTED;
  if (behaviourOf(behaviour, "hang") != 0) return S_OK;
  const long error = behaviourOf(behaviour, "error");
  const int status = error == 1 ? 2 : error != 0 ? 3 : 1;
  self->error = static_cast<HRESULT>(error);
  const long late = behaviourOf(behaviour, "late");
  ++self->references;
  if (late < 0) {
    // At once, on the very thread that asks: as an operation that was over already.
    invokeOf<InvokeStatus>(handler)(handler, self, status);
    release(self);
    return S_OK;
  }
  std::thread([self, handler, status, late] {
    std::this_thread::sleep_for(milliseconds{late});
    invokeOf<InvokeStatus>(handler)(handler, self, status);
    release(self);
  }).detach();
  return S_OK;
}

HRESULT STDMETHODCALLTYPE getErrorCode(Object* self, HRESULT* code) {
  count("AsyncInfo.getErrorCode");
  *code = self->owner->error;
  return S_OK;
}
const Slot kInfoSlots[] = {FAKE_INSPECTABLE, no(), no(), slot(&getErrorCode), no(), no()};

// ---- Texts, values, lists
// -------------------------------------------------------------------------------------

HRESULT makeText(const std::string& text, HSTRING* result) {
  const int length = static_cast<int>(text.size());
  std::wstring wide(text.size(), L'\0');
  const int units = MultiByteToWideChar(CP_UTF8, 0, text.data(), length, wide.data(), length);
  // What a test writes as <D800> is half a character.
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

template <class Value>
Value numberOf(const std::string& text) {
  std::istringstream stream(text);
  Value value{};
  stream >> value;
  return value;
}

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
  *result = new Object(referenceSlots<Value>(), kInspectableId);
  (*result)->text = text;
  return S_OK;
}

HRESULT STDMETHODCALLTYPE getAt(Object* self, std::uint32_t index, Object** element) {
  count("VectorView.getAt");
  if (index >= self->elements.size()) return static_cast<HRESULT>(0x8000000BU);
  *element = self->elements[index];
  if (*element != nullptr) ++(*element)->references;
  return S_OK;
}
HRESULT STDMETHODCALLTYPE getSize(Object* self, std::uint32_t* size) {
  count("VectorView.getSize");
  *size = static_cast<std::uint32_t>(self->elements.size());
  return S_OK;
}
const Slot kListSlots[] = {FAKE_INSPECTABLE, slot(&getAt), slot(&getSize), no(), no()};

// ---- Metadata, timeline, playback
// -----------------------------------------------------------------------------

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
const Slot kTimelineSlots[] = {FAKE_INSPECTABLE,   slot(&getStartTime),      slot(&getEndTime), no(), no(),
                               slot(&getPosition), slot(&getLastUpdatedTime)};

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
  *controls = new Object(kControlsSlots, kInspectableId);
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
const Slot kInfoOfPlaybackSlots[] = {
    FAKE_INSPECTABLE,         slot(&getControls),     slot(&getPlaybackStatus), no(),
    slot(&getAutoRepeatMode), slot(&getPlaybackRate), slot(&getIsShuffleActive)};

// ---- Sessions
// -------------------------------------------------------------------------------------------------

HRESULT STDMETHODCALLTYPE getSourceAppUserModelId(Object* self, HSTRING* name) {
  count("Session.getSourceAppUserModelId");
  *name = nullptr;
  if (behaviourOf(self->session->behaviour, "mute") != 0) return E_FAIL;
  return makeText(self->session->name, name);
}

const wchar_t* const kPropertiesCompletedId = L"{84593A3D-951A-55B6-8353-5205E577797B}";
const wchar_t* const kBooleanCompletedId = L"{C1D3D1A2-AE17-5A5F-B5A2-BDCC8844889A}";
const wchar_t* const kManagerCompletedId = L"{10F0074E-923D-5510-8F4A-DDE37754CA0E}";

HRESULT STDMETHODCALLTYPE putPropertiesCompleted(Object* self, IUnknown* handler) {
  count("AsyncProperties.putCompleted");
  std::map<std::string, long> behaviour;
  {
    const Guard guard(mutexOf());
    const auto& own = self->session->behaviour;
    behaviour["hang"] = behaviourOf(own, "mutemetadata");
    behaviour["error"] = behaviourOf(own, "errormetadata");
    behaviour["late"] = behaviourOf(own, "late");
    behaviour["broken"] = behaviourOf(own, "brokenmetadata");
  }
  return complete(self, handler, kPropertiesCompletedId, behaviour);
}
HRESULT STDMETHODCALLTYPE getPropertiesResults(Object* self, Object** properties) {
  count("AsyncProperties.getResults");
  *properties = nullptr;
  if (behaviourOf(self->session->behaviour, "nometadata") != 0) return E_FAIL;
  *properties = new Object(kPropertiesSlots, kInspectableId);
  (*properties)->session = self->session;
  return S_OK;
}
const Slot kAsyncPropertiesSlots[] = {FAKE_INSPECTABLE, slot(&putPropertiesCompleted), no(),
                                      slot(&getPropertiesResults)};

HRESULT STDMETHODCALLTYPE tryGetMediaProperties(Object* self, Object** operation) {
  count("Session.tryGetMediaProperties");
  *operation = nullptr;
  if (behaviourOf(self->session->behaviour, "brokenmetadata") == 1) return E_FAIL;
  *operation = new Object(kAsyncPropertiesSlots, kInspectableId);
  (*operation)->session = self->session;
  return S_OK;
}
HRESULT STDMETHODCALLTYPE getTimelineProperties(Object* self, Object** timeline) {
  count("Session.getTimelineProperties");
  *timeline = nullptr;
  if (behaviourOf(self->session->behaviour, "broken") == 1) return E_FAIL;
  *timeline = new Object(kTimelineSlots, kInspectableId);
  (*timeline)->session = self->session;
  return S_OK;
}
HRESULT STDMETHODCALLTYPE getPlaybackInfo(Object* self, Object** info) {
  count("Session.getPlaybackInfo");
  *info = nullptr;
  if (behaviourOf(self->session->behaviour, "broken") == 1) return E_FAIL;
  // A call that does not return: the session is asked by another thread than this one's for so long.
  std::this_thread::sleep_for(milliseconds{behaviourOf(self->session->behaviour, "stuck")});
  *info = new Object(kInfoOfPlaybackSlots, kInspectableId);
  (*info)->session = self->session;
  return S_OK;
}

HRESULT STDMETHODCALLTYPE putBooleanCompleted(Object* self, IUnknown* handler) {
  count("AsyncBoolean.putCompleted");
  std::map<std::string, long> behaviour;
  {
    const Guard guard(mutexOf());
    behaviour = self->session->behaviour;
  }
  return complete(self, handler, kBooleanCompletedId, behaviour);
}
HRESULT STDMETHODCALLTYPE getBooleanResults(Object* self, unsigned char* isTaken) {
  count("AsyncBoolean.getResults");
  *isTaken = self->isTrue ? 1 : 0;
  return S_OK;
}
const Slot kAsyncBooleanSlots[] = {FAKE_INSPECTABLE, slot(&putBooleanCompleted), no(),
                                   slot(&getBooleanResults)};

HRESULT begin(Object* self, const std::string& name, const char* status, Object** operation) {
  count("Session." + name);
  const Guard guard(mutexOf());
  *operation = nullptr;
  const auto& behaviour = self->session->behaviour;
  const long refused = behaviourOf(behaviour, "throw");
  if (refused != 0) return static_cast<HRESULT>(refused);
  *operation = new Object(kAsyncBooleanSlots, kInspectableId);
  (*operation)->session = self->session;
  (*operation)->isTrue = behaviourOf(behaviour, "refuse") == 0;
  if ((*operation)->isTrue && status != nullptr) self->session->told["status"] = status;
  return S_OK;
}
#define FAKE_VERB(NAME, STATUS)                                      \
  HRESULT STDMETHODCALLTYPE NAME(Object* self, Object** operation) { \
    return begin(self, #NAME, STATUS, operation);                    \
  }
FAKE_VERB(tryPlay, "4")
FAKE_VERB(tryPause, "5")
FAKE_VERB(tryStop, "3")
FAKE_VERB(trySkipNext, nullptr)
FAKE_VERB(trySkipPrevious, nullptr)
FAKE_VERB(tryTogglePlayPause, nullptr)
HRESULT STDMETHODCALLTYPE tryChangePlaybackPosition(Object* self, std::int64_t position, Object** operation) {
  lastPosition = position;
  const HRESULT code = begin(self, "tryChangePlaybackPosition", nullptr, operation);
  const Guard guard(mutexOf());
  if (SUCCEEDED(code)) self->session->told["position"] = std::to_string(position);
  return code;
}

HRESULT addHandler(std::vector<Handler>& handlers, const wchar_t* id, IUnknown* handler,
                   std::int64_t* token) {
  if (!isHandler(handler, id)) return E_INVALIDARG;
  const Guard guard(mutexOf());
  handler->AddRef();
  *token = ++world().lastToken;
  handlers.push_back({*token, handler});
  ++counts()["handlers"];
  return S_OK;
}
HRESULT removeHandler(std::vector<Handler>& handlers, std::int64_t token) {
  const Guard guard(mutexOf());
  const auto found = std::find_if(handlers.begin(), handlers.end(),
                                  [token](const Handler& each) { return each.token == token; });
  if (found == handlers.end()) {
    count("no token");
    return E_INVALIDARG;
  }
  found->handler->Release();
  handlers.erase(found);
  --counts()["handlers"];
  return S_OK;
}

#define FAKE_EVENT(NAME, ID)                                                                  \
  HRESULT STDMETHODCALLTYPE add##NAME(Object* self, IUnknown* handler, std::int64_t* token) { \
    count("Session.add" #NAME);                                                               \
    if (behaviourOf(self->session->behaviour, "deaf") != 0) return E_FAIL;                    \
    return addHandler(self->session->handlers[#NAME], ID, handler, token);                    \
  }                                                                                           \
  HRESULT STDMETHODCALLTYPE remove##NAME(Object* self, std::int64_t token) {                  \
    count("Session.remove" #NAME);                                                            \
    return removeHandler(self->session->handlers[#NAME], token);                              \
  }
FAKE_EVENT(Timeline, L"{E8BF62AF-FAC1-5FFF-9053-0BF191AE777E}")
FAKE_EVENT(Playback, L"{2BDF1426-D41F-5896-897F-EFC0B0FA7392}")
FAKE_EVENT(Metadata, L"{0F2CE2B7-AFA7-5ED0-8CB6-8C40CF9B3A5F}")

// From SourceAppUserModelId to the events of MediaPropertiesChanged, in the order of the interface.
const Slot kSessionSlots[] = {FAKE_INSPECTABLE,
                              slot(&getSourceAppUserModelId),
                              slot(&tryGetMediaProperties),
                              slot(&getTimelineProperties),
                              slot(&getPlaybackInfo),
                              slot(&tryPlay),
                              slot(&tryPause),
                              slot(&tryStop),
                              no(),
                              no(),
                              no(),
                              slot(&trySkipNext),
                              slot(&trySkipPrevious),
                              no(),
                              no(),
                              slot(&tryTogglePlayPause),
                              no(),
                              no(),
                              no(),
                              slot(&tryChangePlaybackPosition),
                              slot(&addTimeline),
                              slot(&removeTimeline),
                              slot(&addPlayback),
                              slot(&removePlayback),
                              slot(&addMetadata),
                              slot(&removeMetadata)};

// The one object of a session, while it lives and is not renewed.
Object* wrapperOf(const std::shared_ptr<Session>& session) {
  auto& all = wrappers();
  Object*& known = all[session.get()];
  if (known == nullptr) {
    known = new Object(kSessionSlots, L"{7148C835-9B14-5AE2-AB85-DC9B1C14E1A8}");
    known->session = session;
  }
  ++known->references;
  return known;
}

// ---- The manager
// ----------------------------------------------------------------------------------------------

HRESULT STDMETHODCALLTYPE getCurrentSession(Object*, Object** session) {
  count("Manager.getCurrentSession");
  const Guard guard(mutexOf());
  *session = nullptr;
  if (world().current == "!") return E_FAIL;
  for (const auto& each : world().sessions)
    if (each->id == world().current) *session = wrapperOf(each);
  return S_OK;
}
HRESULT STDMETHODCALLTYPE getSessions(Object*, Object** list) {
  count("Manager.getSessions");
  const Guard guard(mutexOf());
  *list = nullptr;
  if (behaviourOf(world().behaviour, "lost") != 0) return static_cast<HRESULT>(0x800706BAU);
  *list = new Object(kListSlots, kInspectableId);
  for (const auto& each : world().sessions) (*list)->elements.push_back(wrapperOf(each));
  return S_OK;
}
HRESULT STDMETHODCALLTYPE addSessionsChanged(Object*, IUnknown* handler, std::int64_t* token) {
  count("Manager.addSessionsChanged");
  return addHandler(world().handlers, L"{2E2A8630-DC8C-530A-9746-BC984D4B029E}", handler, token);
}
HRESULT STDMETHODCALLTYPE removeSessionsChanged(Object*, std::int64_t token) {
  count("Manager.removeSessionsChanged");
  return removeHandler(world().handlers, token);
}
// GetCurrentSession, GetSessions, add/remove CurrentSessionChanged, add/remove SessionsChanged
const Slot kManagerSlots[] = {
    FAKE_INSPECTABLE,          slot(&getCurrentSession),    slot(&getSessions), no(), no(),
    slot(&addSessionsChanged), slot(&removeSessionsChanged)};

HRESULT STDMETHODCALLTYPE putManagerCompleted(Object* self, IUnknown* handler) {
  count("AsyncManager.putCompleted");
  return complete(self, handler, kManagerCompletedId, world().behaviour);
}
HRESULT STDMETHODCALLTYPE getManagerResults(Object*, Object** manager) {
  count("AsyncManager.getResults");
  *manager = nullptr;
  if (behaviourOf(world().behaviour, "nothing") != 0) return S_OK;
  *manager = new Object(kManagerSlots, L"{CACE8EAC-E86E-504A-AB31-5FF8FF1BCE49}");
  return S_OK;
}
const Slot kAsyncManagerSlots[] = {FAKE_INSPECTABLE, slot(&putManagerCompleted), no(),
                                   slot(&getManagerResults)};

HRESULT STDMETHODCALLTYPE request(Object*, Object** operation) {
  count("ManagerStatics.request");
  *operation = nullptr;
  const long refused = behaviourOf(world().behaviour, "throw");
  if (refused != 0) return static_cast<HRESULT>(refused);
  *operation = new Object(kAsyncManagerSlots, kInspectableId);
  return S_OK;
}

const Slot kStaticsSlots[] = {FAKE_INSPECTABLE, slot(&request)};
HRESULT STDMETHODCALLTYPE queryFactory(Object* self, REFIID id, void** result) {
  if (!is(id, L"{2050C4EE-11A0-57DE-AED7-C97C70338245}")) return queryInterface(self, id, result);
  auto* const statics = new Object(kStaticsSlots, L"{2050C4EE-11A0-57DE-AED7-C97C70338245}");
  *result = statics;
  return S_OK;
}
const Slot kFactorySlots[] = {slot(&queryFactory), slot(&addRef), slot(&release), no(), no(), no(), no()};

// ---- What a test says
// -----------------------------------------------------------------------------------------

std::shared_ptr<Session> sessionOf(const std::string& id) {
  for (const auto& each : world().sessions)
    if (each->id == id) return each;
  return nullptr;
}

void fire(const std::vector<Handler>& handlers) {
  for (const Handler& each : handlers) invokeOf<Invoke>(each.handler)(each.handler, nullptr, nullptr);
  for (const Handler& each : handlers) each.handler->Release();
}

bool fireCommand(std::istringstream& words) {
  std::string what;
  std::string id;
  long times = 1;
  words >> what >> id;
  if (!(words >> times)) times = 1;
  for (long i = 0; i < times; ++i) {
    std::vector<Handler> handlers;
    {
      const Guard guard(mutexOf());
      if (what == "sessions") {
        handlers = world().handlers;
      } else {
        const auto session = sessionOf(id);
        if (!session) return false;
        handlers = session->handlers[what == "playback"   ? "Playback"
                                     : what == "timeline" ? "Timeline"
                                                          : "Metadata"];
      }
      for (const Handler& each : handlers) each.handler->AddRef();
    }
    fire(handlers);
  }
  return true;
}

bool sessionCommand(const std::string& verb, std::istringstream& words) {
  std::string id;
  std::string key;
  std::string value;
  words >> id;
  if (verb == "add") {
    const auto session = std::make_shared<Session>();
    session->id = id;
    std::getline(words >> std::ws, session->name);
    world().sessions.push_back(session);
    return true;
  }
  if (verb == "current") {
    world().current = id;
    return true;
  }
  const auto session = sessionOf(id);
  if (!session) return false;
  if (verb == "remove" || verb == "renew") {
    Object*& known = wrappers()[session.get()];
    if (known != nullptr) Object::release(std::exchange(known, nullptr));
    auto& all = world().sessions;
    const auto place = std::find(all.begin(), all.end(), session);
    if (verb == "remove") {
      wrappers().erase(session.get());
      all.erase(place);
    } else {
      // Another object with the same name: its handlers are its own.
      const auto next = std::make_shared<Session>(*session);
      next->handlers.clear();
      *place = next;
    }
    return true;
  }
  words >> key;
  std::getline(words >> std::ws, value);
  if (verb == "set") session->told[key] = value;
  if (verb == "do") session->behaviour[key] = static_cast<long>(std::stoll(value, nullptr, 0));
  return verb == "set" || verb == "do";
}

}  // namespace

extern "C" {

__declspec(dllexport) bool fakeSmtcCommand(const char* command) {
  std::istringstream words(command);
  std::string verb;
  words >> verb;
  if (verb == "fire") return fireCommand(words);
  const Guard guard(mutexOf());
  if (verb != "manager") return sessionCommand(verb, words);
  std::string key;
  std::string value;
  words >> key >> value;
  world().behaviour[key] = static_cast<long>(std::stoll(value, nullptr, 0));
  return true;
}

__declspec(dllexport) long fakeSmtcCount(const char* name) {
  const Guard guard(mutexOf());
  return counts()[name];
}
__declspec(dllexport) long fakeSmtcLive() { return live; }
__declspec(dllexport) std::int64_t fakeSmtcPosition() { return lastPosition; }

// FAKE_SMTC_COMMANDS names a file of commands, a line each, which may grow: for tests in another process.
static void followCommands() {
  const wchar_t* const file = _wgetenv(L"FAKE_SMTC_COMMANDS");
  if (file == nullptr) return;
  const auto readFrom = [path = std::wstring(file)](std::streamoff at) {
    std::ifstream stream(path.c_str(), std::ios::binary);
    stream.seekg(at);
    std::string line;
    // A line without its end is still being written.
    while (std::getline(stream, line) && !stream.eof()) {
      at += static_cast<std::streamoff>(line.size()) + 1;
      fakeSmtcCommand(line.c_str());
    }
    return at;
  };
  const std::streamoff begin = readFrom(0);
  std::thread([readFrom, begin] {
    for (std::streamoff at = begin;; at = readFrom(at)) std::this_thread::sleep_for(milliseconds{20});
  }).detach();
}

__declspec(dllexport) HRESULT STDMETHODCALLTYPE
    DllGetActivationFactory(HSTRING, IActivationFactory** factory) {
  static const bool isFollowing = (followCommands(), true);
  if (!isFollowing) return E_FAIL;
  *factory = reinterpret_cast<IActivationFactory*>(
      new Object(kFactorySlots, L"{00000035-0000-0000-C000-000000000046}"));
  return S_OK;
}

}  // extern "C"
