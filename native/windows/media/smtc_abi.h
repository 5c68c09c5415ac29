// The memory layout of Windows.Media.Control (the SDK's windows.media.control.idl, contract 7: Windows 10
// 1809 and later), written by hand because only Microsoft's compiler includes it. Slots are in the order of
// the interfaces; unused ones are placeholders.
#pragma once

#include <eventtoken.h>
#include <hstring.h>
#include <unknwn.h>

#include <cstdint>

namespace hostwire::smtc {

using Boolean = unsigned char;  // `boolean` of the runtime: one byte
using Ticks = std::int64_t;     // 100 ns; a date counts since 1601

inline constexpr wchar_t kManagerClass[] =
    L"Windows.Media.Control.GlobalSystemMediaTransportControlsSessionManager";

struct Inspectable : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE getIids(ULONG* count, IID** iids) = 0;
  virtual HRESULT STDMETHODCALLTYPE getRuntimeClassName(HSTRING* name) = 0;
  virtual HRESULT STDMETHODCALLTYPE getTrustLevel(int* level) = 0;
};

inline constexpr int kAsyncCompleted = 1;
inline constexpr int kAsyncCanceled = 2;

struct AsyncInfo : Inspectable {
  virtual HRESULT STDMETHODCALLTYPE getId(std::uint32_t* id) = 0;
  virtual HRESULT STDMETHODCALLTYPE getStatus(int* status) = 0;
  virtual HRESULT STDMETHODCALLTYPE getErrorCode(HRESULT* code) = 0;
  virtual HRESULT STDMETHODCALLTYPE cancel() = 0;
  virtual HRESULT STDMETHODCALLTYPE close() = 0;
};

// AsyncOperationCompletedHandler<…>
struct CompletedHandler : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE invoke(IUnknown* operation, int status) = 0;
};

// IAsyncOperation<…>
template <class Result>
struct AsyncOperation : Inspectable {
  virtual HRESULT STDMETHODCALLTYPE putCompleted(CompletedHandler* handler) = 0;
  virtual HRESULT STDMETHODCALLTYPE getCompleted(CompletedHandler** handler) = 0;
  virtual HRESULT STDMETHODCALLTYPE getResults(Result* result) = 0;
};

// TypedEventHandler<…>
struct EventHandler : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE invoke(IUnknown* sender, IUnknown* arguments) = 0;
};

// IReference<…>: a value that may be missing
template <class Value>
struct Reference : Inspectable {
  virtual HRESULT STDMETHODCALLTYPE getValue(Value* value) = 0;
};

// IVectorView<…>
template <class Element>
struct VectorView : Inspectable {
  virtual HRESULT STDMETHODCALLTYPE getAt(std::uint32_t index, Element* element) = 0;
  virtual HRESULT STDMETHODCALLTYPE getSize(std::uint32_t* size) = 0;
  virtual HRESULT STDMETHODCALLTYPE indexOf(Element element, std::uint32_t* index, Boolean* isFound) = 0;
  virtual HRESULT STDMETHODCALLTYPE getMany(std::uint32_t start, std::uint32_t room, Element* elements,
                                            std::uint32_t* count) = 0;
};

struct MediaProperties : Inspectable {
  virtual HRESULT STDMETHODCALLTYPE getTitle(HSTRING* text) = 0;
  virtual HRESULT STDMETHODCALLTYPE getSubtitle(HSTRING* text) = 0;
  virtual HRESULT STDMETHODCALLTYPE getAlbumArtist(HSTRING* text) = 0;
  virtual HRESULT STDMETHODCALLTYPE getArtist(HSTRING* text) = 0;
  virtual HRESULT STDMETHODCALLTYPE getAlbumTitle(HSTRING* text) = 0;
  virtual HRESULT STDMETHODCALLTYPE getTrackNumber(std::int32_t* number) = 0;
  virtual HRESULT STDMETHODCALLTYPE getGenres(VectorView<HSTRING>** genres) = 0;
  virtual HRESULT STDMETHODCALLTYPE getAlbumTrackCount(std::int32_t* count) = 0;
  virtual HRESULT STDMETHODCALLTYPE getPlaybackType(Reference<int>** type) = 0;
  virtual HRESULT STDMETHODCALLTYPE getThumbnail(IUnknown** stream) = 0;
};

struct PlaybackControls : Inspectable {
  virtual HRESULT STDMETHODCALLTYPE getIsPlayEnabled(Boolean* is) = 0;
  virtual HRESULT STDMETHODCALLTYPE getIsPauseEnabled(Boolean* is) = 0;
  virtual HRESULT STDMETHODCALLTYPE getIsStopEnabled(Boolean* is) = 0;
  virtual HRESULT STDMETHODCALLTYPE getIsRecordEnabled(Boolean* is) = 0;
  virtual HRESULT STDMETHODCALLTYPE getIsFastForwardEnabled(Boolean* is) = 0;
  virtual HRESULT STDMETHODCALLTYPE getIsRewindEnabled(Boolean* is) = 0;
  virtual HRESULT STDMETHODCALLTYPE getIsNextEnabled(Boolean* is) = 0;
  virtual HRESULT STDMETHODCALLTYPE getIsPreviousEnabled(Boolean* is) = 0;
  virtual HRESULT STDMETHODCALLTYPE getIsChannelUpEnabled(Boolean* is) = 0;
  virtual HRESULT STDMETHODCALLTYPE getIsChannelDownEnabled(Boolean* is) = 0;
  virtual HRESULT STDMETHODCALLTYPE getIsPlayPauseToggleEnabled(Boolean* is) = 0;
  virtual HRESULT STDMETHODCALLTYPE getIsShuffleEnabled(Boolean* is) = 0;
  virtual HRESULT STDMETHODCALLTYPE getIsRepeatEnabled(Boolean* is) = 0;
  virtual HRESULT STDMETHODCALLTYPE getIsPlaybackRateEnabled(Boolean* is) = 0;
  virtual HRESULT STDMETHODCALLTYPE getIsPlaybackPositionEnabled(Boolean* is) = 0;
};

struct PlaybackInfo : Inspectable {
  virtual HRESULT STDMETHODCALLTYPE getControls(PlaybackControls** controls) = 0;
  virtual HRESULT STDMETHODCALLTYPE getPlaybackStatus(int* status) = 0;
  virtual HRESULT STDMETHODCALLTYPE getPlaybackType(Reference<int>** type) = 0;
  virtual HRESULT STDMETHODCALLTYPE getAutoRepeatMode(Reference<int>** mode) = 0;
  virtual HRESULT STDMETHODCALLTYPE getPlaybackRate(Reference<double>** rate) = 0;
  virtual HRESULT STDMETHODCALLTYPE getIsShuffleActive(Reference<Boolean>** is) = 0;
};

struct TimelineProperties : Inspectable {
  virtual HRESULT STDMETHODCALLTYPE getStartTime(Ticks* time) = 0;
  virtual HRESULT STDMETHODCALLTYPE getEndTime(Ticks* time) = 0;
  virtual HRESULT STDMETHODCALLTYPE getMinSeekTime(Ticks* time) = 0;
  virtual HRESULT STDMETHODCALLTYPE getMaxSeekTime(Ticks* time) = 0;
  virtual HRESULT STDMETHODCALLTYPE getPosition(Ticks* time) = 0;
  virtual HRESULT STDMETHODCALLTYPE getLastUpdatedTime(Ticks* time) = 0;
};

using AsyncBoolean = AsyncOperation<Boolean>;
using AsyncProperties = AsyncOperation<MediaProperties*>;

struct Session : Inspectable {
  virtual HRESULT STDMETHODCALLTYPE getSourceAppUserModelId(HSTRING* id) = 0;
  virtual HRESULT STDMETHODCALLTYPE tryGetMediaProperties(AsyncProperties** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE getTimelineProperties(TimelineProperties** timeline) = 0;
  virtual HRESULT STDMETHODCALLTYPE getPlaybackInfo(PlaybackInfo** info) = 0;
  virtual HRESULT STDMETHODCALLTYPE tryPlay(AsyncBoolean** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE tryPause(AsyncBoolean** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE tryStop(AsyncBoolean** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE tryRecord(AsyncBoolean** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE tryFastForward(AsyncBoolean** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE tryRewind(AsyncBoolean** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE trySkipNext(AsyncBoolean** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE trySkipPrevious(AsyncBoolean** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE tryChangeChannelUp(AsyncBoolean** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE tryChangeChannelDown(AsyncBoolean** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE tryTogglePlayPause(AsyncBoolean** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE tryChangeAutoRepeatMode(int mode, AsyncBoolean** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE tryChangePlaybackRate(double rate, AsyncBoolean** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE tryChangeShuffleActive(Boolean is, AsyncBoolean** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE tryChangePlaybackPosition(Ticks position, AsyncBoolean** operation) = 0;
  virtual HRESULT STDMETHODCALLTYPE addTimelinePropertiesChanged(EventHandler* handler,
                                                                 EventRegistrationToken* token) = 0;
  virtual HRESULT STDMETHODCALLTYPE removeTimelinePropertiesChanged(EventRegistrationToken token) = 0;
  virtual HRESULT STDMETHODCALLTYPE addPlaybackInfoChanged(EventHandler* handler,
                                                           EventRegistrationToken* token) = 0;
  virtual HRESULT STDMETHODCALLTYPE removePlaybackInfoChanged(EventRegistrationToken token) = 0;
  virtual HRESULT STDMETHODCALLTYPE addMediaPropertiesChanged(EventHandler* handler,
                                                              EventRegistrationToken* token) = 0;
  virtual HRESULT STDMETHODCALLTYPE removeMediaPropertiesChanged(EventRegistrationToken token) = 0;
};

struct Manager : Inspectable {
  virtual HRESULT STDMETHODCALLTYPE getCurrentSession(Session** session) = 0;
  virtual HRESULT STDMETHODCALLTYPE getSessions(VectorView<Session*>** sessions) = 0;
  virtual HRESULT STDMETHODCALLTYPE addCurrentSessionChanged(EventHandler* handler,
                                                             EventRegistrationToken* token) = 0;
  virtual HRESULT STDMETHODCALLTYPE removeCurrentSessionChanged(EventRegistrationToken token) = 0;
  virtual HRESULT STDMETHODCALLTYPE addSessionsChanged(EventHandler* handler,
                                                       EventRegistrationToken* token) = 0;
  virtual HRESULT STDMETHODCALLTYPE removeSessionsChanged(EventRegistrationToken token) = 0;
};

using AsyncManager = AsyncOperation<Manager*>;

struct ManagerStatics : Inspectable {
  virtual HRESULT STDMETHODCALLTYPE request(AsyncManager** operation) = 0;
};

}  // namespace hostwire::smtc
