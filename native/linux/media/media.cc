// The players, for any thread.
#include "host/media.h"

#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "linux/command_thread.h"
#include "linux/media/art_file.h"
#include "linux/media/mpris.h"

namespace hostwire {

struct MediaPlayers::State {
  std::shared_ptr<CommandThread::State> thread;
  std::function<void()> onChange;
  std::mutex mutex;
  std::shared_ptr<Mpris> mpris;  // set by the bus thread's first task
  std::optional<std::string> failure;

  std::shared_ptr<Mpris> find() {
    const std::lock_guard lock(mutex);
    return mpris;
  }
};

MediaPlayers::MediaPlayers(const CommandThread& thread, std::function<void()> onChange)
    : state_(std::make_shared<State>()) {
  state_->thread = thread.state();
  state_->onChange = std::move(onChange);
}

MediaPlayers::~MediaPlayers() = default;

void MediaPlayers::watch() {
  const bool isPosted = state_->thread->bus.post([weak = std::weak_ptr(state_)](BusLoop& loop) {
    const auto state = weak.lock();
    if (!state || state->find()) return;
    const auto mpris = std::make_shared<Mpris>(loop, state->onChange);
    {
      const std::lock_guard lock(state->mutex);
      state->mpris = mpris;
    }
    mpris->start();
  });
  if (isPosted) return;
  const std::lock_guard lock(state_->mutex);
  state_->failure = "cannot start a thread for the session bus";
}

MediaSnapshot MediaPlayers::read() {
  if (const auto mpris = state_->find()) return mpris->read();
  const std::lock_guard lock(state_->mutex);
  MediaSnapshot snapshot;
  snapshot.absence = state_->failure;
  snapshot.isSettled = state_->failure.has_value();
  return snapshot;
}

Finding MediaPlayers::describe() {
  static const MediaSource bus{"the session bus", "no session bus",
                               "run it as the user who sits at the machine, in a systemd user unit"};
  return describePlayers(read(), bus);
}

void MediaPlayers::control(const std::string& id, MediaVerb verb, double value,
                           std::chrono::milliseconds limit,
                           const std::function<void(const MediaReply&)>& done) {
  const auto task = [mpris = state_->find(), id, verb, value, limit, done](BusLoop&) {
    if (!mpris) return done({MediaOutcome::kGone, "players are not watched"});
    mpris->control(id, verb, value, limit, done);
  };
  if (!state_->thread->bus.post(task)) done({MediaOutcome::kGone, "the service is stopping"});
}

std::function<std::string()> MediaPlayers::artReader(const std::string& id, const std::string& path,
                                                     std::size_t maxBytes) {
  const auto mpris = state_->find();
  const PlayerRights rights =
      mpris ? mpris->rightsOf(id) : PlayerRights{std::nullopt, "players are not watched"};
  // A thread that hangs must not keep the watcher alive: its listener belongs to the JavaScript thread.
  return [rights, path, maxBytes] {
    if (!rights.user) throw std::runtime_error(rights.reason);
    return readFileAs(*rights.user, path, maxBytes);
  };
}

void MediaPlayers::askArtUrl(const std::string& id, std::size_t maxBytes, std::chrono::milliseconds limit,
                             const std::function<void(const std::optional<std::string>&)>& done) {
  const auto task = [mpris = state_->find(), id, maxBytes, limit, done](BusLoop&) {
    if (!mpris) return done(std::nullopt);
    mpris->askArtUrl(id, maxBytes, limit, done);
  };
  if (!state_->thread->bus.post(task)) done(std::nullopt);
}

}  // namespace hostwire
