// The players, for any thread.
#include "host/media.h"

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "windows/command_thread.h"
#include "windows/media/smtc.h"

namespace hostwire {

struct MediaPlayers::State {
  State() = default;
  ~State() {
    if (smtc) smtc->end();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::shared_ptr<CommandThread::State> thread;
  std::function<void()> onChange;
  std::mutex mutex;
  std::shared_ptr<Smtc> smtc;  // set by the command thread's first task
  std::optional<std::string> failure;

  std::shared_ptr<Smtc> find() {
    const std::lock_guard lock(mutex);
    return smtc;
  }

  // Runs on the command thread.
  void begin() {
    if (find()) return;
    const auto sessions = std::make_shared<Smtc>(thread->loop, onChange);
    const bool isBegun = sessions->begin();
    const std::lock_guard lock(mutex);
    if (isBegun) smtc = sessions;
    if (!isBegun) failure = "cannot start a thread for the players";
  }
};

MediaPlayers::MediaPlayers(const CommandThread& thread, std::function<void()> onChange)
    : state_(std::make_shared<State>()) {
  state_->thread = thread.state();
  state_->onChange = std::move(onChange);
}

MediaPlayers::~MediaPlayers() = default;

void MediaPlayers::watch() {
  const bool isPosted = state_->thread->post([weak = std::weak_ptr(state_)] {
    if (const auto state = weak.lock()) state->begin();
  });
  if (isPosted) return;
  const std::lock_guard lock(state_->mutex);
  state_->failure = "cannot start a thread for the players";
}

MediaSnapshot MediaPlayers::read() {
  if (const auto smtc = state_->find()) return smtc->read();
  const std::lock_guard lock(state_->mutex);
  MediaSnapshot snapshot;
  snapshot.absence = state_->failure;
  snapshot.isSettled = state_->failure.has_value();
  return snapshot;
}

Finding MediaPlayers::describe() {
  static const MediaSource sessions{
      "Windows", "no media sessions",
      "run it as the user who sits at the machine, on Windows 10 1809 or later: "
      "a service in session 0 sees no players"};
  return describePlayers(read(), sessions);
}

// A session offers its picture as a stream; it does not name a file.
std::function<std::string()> MediaPlayers::artReader(const std::string&, const std::string&, std::size_t) {
  return []() -> std::string { throw std::runtime_error("players on Windows name no file"); };
}

void MediaPlayers::askArtUrl(const std::string&, std::size_t, std::chrono::milliseconds,
                             const std::function<void(const std::optional<std::string>&)>& done) {
  done(std::nullopt);
}

void MediaPlayers::control(const std::string& id, MediaVerb verb, double value,
                           std::chrono::milliseconds limit,
                           const std::function<void(const MediaReply&)>& done) {
  const auto& loop = state_->thread->loop;
  const auto task = [smtc = state_->find(), loop, id, verb, value, limit, done] {
    if (!smtc) return done({MediaOutcome::kGone, "players are not watched"});
    const std::string late = "it did not answer within " + std::to_string(limit.count()) + " ms";
    const auto answer =
        OpenAnswer<MediaReply>::open(loop, limit, [done, late](const std::optional<MediaReply>& reply) {
          done(reply ? *reply : MediaReply{MediaOutcome::kUnanswered, late});
        });
    smtc->control(id, verb, value, [answer](const MediaReply& reply) { answer->give(reply); });
  };
  if (!state_->thread->post(task)) done({MediaOutcome::kGone, "the service is stopping"});
}

}  // namespace hostwire
