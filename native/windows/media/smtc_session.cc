// One media session.
#include "windows/media/smtc_session.h"

#include <array>
#include <utility>

#include "windows/media/smtc_handlers.h"
#include "windows/media/smtc_ids.h"

namespace hostwire::smtc {
namespace {

// Longer than any title.
constexpr std::size_t kMaxUnits = 1024;

template <class Owner>
std::string textOf(Owner& owner, HRESULT (STDMETHODCALLTYPE Owner::*get)(HSTRING*)) {
  RuntimeString text;
  if (FAILED((owner.*get)(text.put()))) return {};
  return text.text(kMaxUnits);
}

template <class Value>
std::optional<Value> valueOf(PlaybackInfo& info,
                             HRESULT (STDMETHODCALLTYPE PlaybackInfo::*get)(Reference<Value>**)) {
  ComPtr<Reference<Value>> reference;
  Value value{};
  if (FAILED((info.*get)(reference.put())) || !reference || FAILED(reference->getValue(&value)))
    return std::nullopt;
  return value;
}

using Enabled = HRESULT (STDMETHODCALLTYPE PlaybackControls::*)(Boolean*);
struct VerbControl {
  MediaVerb verb;
  Enabled isEnabled;
};
// The volume there is the machine's, not the player's.
constexpr std::array<VerbControl, 7> kControls{{
    {MediaVerb::kPlay, &PlaybackControls::getIsPlayEnabled},
    {MediaVerb::kPause, &PlaybackControls::getIsPauseEnabled},
    {MediaVerb::kPlayPause, &PlaybackControls::getIsPlayPauseToggleEnabled},
    {MediaVerb::kStop, &PlaybackControls::getIsStopEnabled},
    {MediaVerb::kNext, &PlaybackControls::getIsNextEnabled},
    {MediaVerb::kPrevious, &PlaybackControls::getIsPreviousEnabled},
    {MediaVerb::kSeek, &PlaybackControls::getIsPlaybackPositionEnabled},
}};

std::uint32_t readControls(PlaybackInfo& info) {
  ComPtr<PlaybackControls> controls;
  if (FAILED(info.getControls(controls.put())) || !controls) return 0;
  std::uint32_t can = 0;
  for (const auto& [verb, isEnabled] : kControls) {
    Boolean is = 0;
    if (SUCCEEDED((controls.get()->*isEnabled)(&is)) && is != 0) can |= 1U << static_cast<unsigned>(verb);
  }
  return can;
}

}  // namespace

std::string readAppUserModelId(Session& session) {
  return textOf<Session>(session, &Session::getSourceAppUserModelId);
}

std::optional<SessionPlayback> readPlayback(Session& session) {
  ComPtr<PlaybackInfo> info;
  SessionPlayback playback;
  if (FAILED(session.getPlaybackInfo(info.put())) || !info) return std::nullopt;
  if (FAILED(info->getPlaybackStatus(&playback.status))) return std::nullopt;
  playback.can = readControls(*info.get());
  playback.rate = valueOf<double>(*info.get(), &PlaybackInfo::getPlaybackRate);
  playback.repeatMode = valueOf<int>(*info.get(), &PlaybackInfo::getAutoRepeatMode);
  const auto isShuffled = valueOf<Boolean>(*info.get(), &PlaybackInfo::getIsShuffleActive);
  if (isShuffled) playback.isShuffled = *isShuffled != 0;
  return playback;
}

std::optional<SessionTimeline> readTimeline(Session& session) {
  ComPtr<TimelineProperties> properties;
  SessionTimeline timeline;
  if (FAILED(session.getTimelineProperties(properties.put())) || !properties) return std::nullopt;
  if (FAILED(properties->getStartTime(&timeline.start)) || FAILED(properties->getEndTime(&timeline.end)) ||
      FAILED(properties->getPosition(&timeline.position)) ||
      FAILED(properties->getLastUpdatedTime(&timeline.lastUpdated)))
    return std::nullopt;
  return timeline;
}

SessionMetadata readMetadata(MediaProperties& properties) {
  using Properties = MediaProperties;
  return {textOf<Properties>(properties, &Properties::getTitle),
          textOf<Properties>(properties, &Properties::getArtist),
          textOf<Properties>(properties, &Properties::getAlbumArtist),
          textOf<Properties>(properties, &Properties::getAlbumTitle)};
}

HRESULT start(Session& session, MediaVerb verb, Ticks ticks, ComPtr<AsyncBoolean>& operation) {
  AsyncBoolean** const result = operation.put();
  switch (verb) {
    case MediaVerb::kPlay: return session.tryPlay(result);
    case MediaVerb::kPause: return session.tryPause(result);
    case MediaVerb::kPlayPause: return session.tryTogglePlayPause(result);
    case MediaVerb::kStop: return session.tryStop(result);
    case MediaVerb::kNext: return session.trySkipNext(result);
    case MediaVerb::kPrevious: return session.trySkipPrevious(result);
    case MediaVerb::kSeek: return session.tryChangePlaybackPosition(ticks, result);
    case MediaVerb::kSetVolume: break;
  }
  return E_NOTIMPL;
}

HRESULT errorOf(IUnknown& operation) {
  ComPtr<AsyncInfo> info;
  HRESULT code = E_FAIL;
  if (FAILED(operation.QueryInterface(kAsyncInfo, info.putVoid())) || FAILED(info->getErrorCode(&code)))
    return E_FAIL;
  return code;
}

SessionEvents::SessionEvents(ComPtr<Session> session, std::function<void()> onNews)
    : session_(std::move(session)) {
  const auto handlerOf = [&](const GUID& id, unsigned news) {
    return onEvent(id, [all = news_, news, onNews] {
      if (all->fetch_or(news) == 0) onNews();
    });
  };
  // A session whose events cannot be subscribed to keeps its first state, and is still listed.
  const auto playback = handlerOf(kPlaybackInfoChanged, kPlaybackNews);
  if (FAILED(session_->addPlaybackInfoChanged(playback.get(), &playback_))) playback_ = {};
  const auto timeline = handlerOf(kTimelinePropertiesChanged, kTimelineNews);
  if (FAILED(session_->addTimelinePropertiesChanged(timeline.get(), &timeline_))) timeline_ = {};
  const auto metadata = handlerOf(kMediaPropertiesChanged, kMetadataNews);
  if (FAILED(session_->addMediaPropertiesChanged(metadata.get(), &metadata_))) metadata_ = {};
}

SessionEvents::~SessionEvents() {
  if (playback_.value != 0) session_->removePlaybackInfoChanged(playback_);
  if (timeline_.value != 0) session_->removeTimelinePropertiesChanged(timeline_);
  if (metadata_.value != 0) session_->removeMediaPropertiesChanged(metadata_);
}

}  // namespace hostwire::smtc
