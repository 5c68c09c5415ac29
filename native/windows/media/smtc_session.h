// One media session: what it says of itself, that it has changed, and what it is asked to do.
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

// Empty where it has none.
std::string readAppUserModelId(Session& session);
// Nothing where it can't be asked.
std::optional<SessionPlayback> readPlayback(Session& session);
std::optional<SessionTimeline> readTimeline(Session& session);
SessionMetadata readMetadata(MediaProperties& properties);

// Starts what `verb` means. `ticks`: where to, for `seek`.
HRESULT start(Session& session, MediaVerb verb, Ticks ticks, ComPtr<AsyncBoolean>& operation);

// Why an operation has failed.
HRESULT errorOf(IUnknown& operation);

// What there is news of, a bit each.
inline constexpr unsigned kPlaybackNews = 1;
inline constexpr unsigned kTimelineNews = 2;
inline constexpr unsigned kMetadataNews = 4;
inline constexpr unsigned kAllNews = kPlaybackNews | kTimelineNews | kMetadataNews;

// Listens to a session while it lives.
class SessionEvents {
 public:
  // `onNews` is called on a thread of Windows', for each event: once for many until `take`.
  SessionEvents(ComPtr<Session> session, std::function<void()> onNews);
  ~SessionEvents();
  SessionEvents(const SessionEvents&) = delete;
  SessionEvents& operator=(const SessionEvents&) = delete;

  // What there is news of since the last time. The next event is told again.
  unsigned take() { return news_->exchange(0); }
  // As if an event had come. True when it is the first.
  bool add(unsigned news) { return news_->fetch_or(news) == 0; }

 private:
  ComPtr<Session> session_;
  const std::shared_ptr<std::atomic<unsigned>> news_ = std::make_shared<std::atomic<unsigned>>(0);
  // Windows gives no token of 0.
  EventRegistrationToken playback_{};
  EventRegistrationToken timeline_{};
  EventRegistrationToken metadata_{};
};

}  // namespace hostwire::smtc
