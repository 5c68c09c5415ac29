// One media session: its properties, its events, and commands to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "host/media.h"
#include "windows/media/session_table.h"
#include "windows/media/smtc_abi.h"
#include "windows/win32/com.h"

namespace hostwire::smtc {

// Returns an empty text if it has none.
std::string readAppUserModelId(Session& session);
// Returns nothing if it cannot be read.
std::optional<SessionPlayback> readPlayback(Session& session);
std::optional<SessionTimeline> readTimeline(Session& session);
SessionMetadata readMetadata(MediaProperties& properties);

// Starts the operation for `verb`. `ticks`: the target of `kSeek`.
HRESULT start(Session& session, MediaVerb verb, Ticks ticks, ComPtr<AsyncBoolean>& operation);

// Returns why an operation failed.
HRESULT errorOf(IUnknown& operation);

// Kinds of events, one bit each.
inline constexpr unsigned kPlaybackNews = 1;
inline constexpr unsigned kTimelineNews = 2;
inline constexpr unsigned kMetadataNews = 4;
inline constexpr unsigned kAllNews = kPlaybackNews | kTimelineNews | kMetadataNews;

// Subscribes to a session's events while it lives.
class SessionEvents {
 public:
  // `onNews` is called on a Windows thread when an event arrives: once for several, until `take` is called.
  SessionEvents(ComPtr<Session> session, std::function<void()> onNews);
  ~SessionEvents();
  SessionEvents(const SessionEvents&) = delete;
  SessionEvents& operator=(const SessionEvents&) = delete;

  // Returns the events since the last call. The next event calls `onNews` again.
  unsigned take() { return news_->exchange(0); }
  // Acts as if an event had arrived. Returns true when it is the first.
  bool add(unsigned news) { return news_->fetch_or(news) == 0; }

 private:
  ComPtr<Session> session_;
  const std::shared_ptr<std::atomic<unsigned>> news_ = std::make_shared<std::atomic<unsigned>>(0);
  // Windows never uses the token 0.
  EventRegistrationToken playback_{};
  EventRegistrationToken timeline_{};
  EventRegistrationToken metadata_{};
};

}  // namespace hostwire::smtc
