// Playback and timeline are read immediately; Windows answers questions for tracks, and commands, later.
#include "windows/media/smtc_players.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "windows/media/smtc_clock.h"
#include "windows/media/smtc_handlers.h"
#include "windows/media/smtc_ids.h"
#include "windows/win32/error_text.h"

namespace hostwire {
namespace {

using smtc::nowMs;
using std::chrono::milliseconds;

// Minimum time between two readings: a player may change thousands of times per second.
constexpr double kPaceMs = 50;
// Time after which a player that has not reported its track is asked again.
constexpr milliseconds kPatience{1500};
// Maximum number of attempts while no event arrives: the pauses double from kPatience on.
constexpr int kMaxReadsAgain = 4;
// Maximum number of unanswered questions; beyond it the oldest is forgotten.
constexpr std::size_t kMaxQuestions = 3;
// Maximum number of commands that a player may leave unanswered: each is remembered until it is answered.
constexpr int kMaxUnanswered = 8;
constexpr double kTicksPerSecond = 1e7;
// Errors of a call when the player, or its part of Windows, is gone (winerror.h).
constexpr HRESULT kServerUnavailable = static_cast<HRESULT>(0x800706BAU);

MediaReply replyOf(HRESULT code) {
  if (SUCCEEDED(code)) return {MediaOutcome::kDone, ""};
  const bool isGone =
      code == RPC_E_DISCONNECTED || code == RPC_E_SERVER_DIED_DNE || code == kServerUnavailable;
  return {isGone ? MediaOutcome::kGone : MediaOutcome::kFailed,
          windowsErrorText(static_cast<unsigned long>(code))};
}

// Returns whether this is its current state, because players may refuse a request for it.
bool isSo(smtc::Session& session, MediaVerb verb) {
  if (verb != MediaVerb::kPlay && verb != MediaVerb::kPause) return false;
  const auto playback = smtc::readPlayback(session);
  const SessionStatus wanted = verb == MediaVerb::kPlay ? SessionStatus::kPlaying : SessionStatus::kPaused;
  return playback && playback->status == static_cast<int>(wanted);
}

// `value` is a number of seconds from a client.
smtc::Ticks ticksOf(double value, std::int64_t start) {
  constexpr double kMaxSeconds = 1e8;
  return start + static_cast<smtc::Ticks>(std::clamp(value, 0.0, kMaxSeconds) * kTicksPerSecond);
}

}  // namespace

SmtcPlayers::SmtcPlayers(std::shared_ptr<TaskLoop> loop, std::shared_ptr<SharedSessions> shared,
                         std::function<void()> onNews)
    : loop_(std::move(loop)), shared_(std::move(shared)), onNews_(std::move(onNews)) {}

void SmtcPlayers::begin() {
  begunMs_ = nowMs();
  isFirst_ = true;
}

void SmtcPlayers::replace(std::vector<ComPtr<smtc::Session>> sessions, std::uint32_t leftOut,
                          smtc::Session* current) {
  // Sessions that still exist are taken over from these.
  std::map<std::string, Player> left = std::exchange(players_, {});
  std::vector<std::string> arrived;
  for (auto& session : sessions)
    if (auto id = adopt(std::move(session), left)) arrived.push_back(std::move(*id));
  {
    // In one step: reading them may take long, and no reader must see some without the others.
    const std::lock_guard lock(shared_->mutex);
    for (const auto& [id, player] : left) shared_->table.remove(id);
    for (const std::string& id : arrived) shared_->table.add(id, players_[id].appUserModelId);
    shared_->table.setLeftOut(leftOut);
    shared_->absence.reset();
    shared_->isReached = true;
  }
  if (current != nullptr) markCurrent(*current);
  for (const std::string& id : arrived) listen(id);
  isFirst_ = false;
}

bool SmtcPlayers::isQuiet() const {
  return std::none_of(players_.begin(), players_.end(),
                      [](const auto& entry) { return !entry.second.questions.empty(); });
}

void SmtcPlayers::markCurrent(smtc::Session& current) {
  const auto identity = identityOf(current);
  for (const auto& [id, player] : players_) {
    if (player.identity.get() != identity.get()) continue;
    const std::lock_guard lock(shared_->mutex);
    shared_->table.setCurrent(id, begunMs_);
  }
}

ComPtr<IUnknown> SmtcPlayers::identityOf(smtc::Session& session) {
  ComPtr<IUnknown> identity;
  if (FAILED(session.QueryInterface(smtc::kUnknown, identity.putVoid()))) identity.reset();
  return identity;
}

std::optional<std::string> SmtcPlayers::adopt(ComPtr<smtc::Session> session,
                                              std::map<std::string, Player>& left) {
  const auto identity = identityOf(*session.get());
  const auto known = std::find_if(left.begin(), left.end(), [&](const auto& entry) {
    return entry.second.identity.get() == identity.get();
  });
  if (known != left.end()) {
    players_.insert(left.extract(known));
    return std::nullopt;
  }
  const std::string id = std::to_string(++lastId_);
  Player& player = players_[id];
  player.session = std::move(session);
  player.identity = identity;
  player.appUserModelId = smtc::readAppUserModelId(*player.session.get());
  return id;
}

void SmtcPlayers::listen(const std::string& id) {
  Player& player = players_[id];
  // First, so that no change between this and the reading is missed.
  player.events =
      std::make_unique<smtc::SessionEvents>(player.session, [weak = weak_from_this(), loop = loop_, id] {
        loop->post([weak, id] {
          if (const auto self = weak.lock()) self->onEvent(id);
        });
      });
  player.events->add(smtc::kAllNews);
  readNews(id);
}

void SmtcPlayers::onEvent(const std::string& id) {
  const auto found = players_.find(id);
  if (found == players_.end()) return;
  Player& player = found->second;
  player.readsAgain = 0;
  // A reading that was given up is tried once more.
  if (!player.readingAgain) player.events->add(player.unread);
  const double wait = player.readAtMs + kPaceMs - nowMs();
  if (wait <= 0) return readNews(id);
  loop_->after(milliseconds{static_cast<int>(wait) + 1}, [weak = weak_from_this(), id] {
    if (const auto self = weak.lock()) self->readNews(id);
  });
}

void SmtcPlayers::readNews(const std::string& id) {
  const auto found = players_.find(id);
  if (found == players_.end()) return;
  found->second.readAtMs = nowMs();
  read(id, found->second, found->second.events->take());
}

void SmtcPlayers::read(const std::string& id, Player& player, unsigned news) {
  if ((news & smtc::kPlaybackNews) != 0) {
    const auto playback = smtc::readPlayback(*player.session.get());
    noteRead(player, smtc::kPlaybackNews, playback.has_value());
    const std::lock_guard lock(shared_->mutex);
    // The order of players that played before the first question is unknown: all have the same time.
    if (playback) shared_->table.setPlayback(id, *playback, isFirst_ ? begunMs_ : nowMs());
  }
  if ((news & smtc::kTimelineNews) != 0) {
    const auto timeline = smtc::readTimeline(*player.session.get());
    noteRead(player, smtc::kTimelineNews, timeline.has_value());
    const std::lock_guard lock(shared_->mutex);
    if (timeline) shared_->table.setTimeline(id, *timeline, smtc::now());
  }
  if ((news & smtc::kMetadataNews) != 0) askMetadata(id, player);
  readLater(id, player);
  onNews_();
}

void SmtcPlayers::noteRead(Player& player, unsigned news, bool isRead) {
  player.unread = isRead ? player.unread & ~news : player.unread | news;
  if (player.unread != 0 || !player.readingAgain) return;
  loop_->cancel(*player.readingAgain);
  player.readingAgain.reset();
}

void SmtcPlayers::readLater(const std::string& id, Player& player) {
  if (player.unread == 0 || player.readingAgain || player.readsAgain >= kMaxReadsAgain) return;
  const milliseconds pause = kPatience * (1 << player.readsAgain);
  ++player.readsAgain;
  player.readingAgain = loop_->after(pause, [weak = weak_from_this(), loop = loop_, id] {
    const auto self = weak.lock();
    if (self && !loop->isEnding()) self->readAgain(id);
  });
}

void SmtcPlayers::readAgain(const std::string& id) {
  const auto found = players_.find(id);
  if (found == players_.end()) return;
  found->second.readingAgain.reset();
  read(id, found->second, found->second.unread);
}

void SmtcPlayers::askMetadata(const std::string& id, Player& player) {
  noteRead(player, smtc::kMetadataNews, false);
  if (!player.questions.empty() && nowMs() - player.askedAtMs < kPatience.count()) {
    player.isAskedAgain = true;
    return;
  }
  player.isAskedAgain = false;
  player.askedAtMs = nowMs();
  const unsigned ask = ++player.asks;
  ComPtr<smtc::AsyncProperties> operation;
  HRESULT code = player.session->tryGetMediaProperties(operation.put());
  if (SUCCEEDED(code))
    code =
        smtc::whenCompleted(*operation.get(), smtc::kMediaPropertiesCompleted, loop_, weak_from_this(),
                            [id, ask](SmtcPlayers& self, int status) { self.onMetadata(id, ask, status); });
  if (FAILED(code)) {
    const std::lock_guard lock(shared_->mutex);
    return shared_->table.setAnswered(id);
  }
  if (player.questions.size() >= kMaxQuestions) player.questions.erase(player.questions.begin());
  player.questions.emplace(ask, std::move(operation));
}

void SmtcPlayers::onMetadata(const std::string& id, unsigned ask, int status) {
  const auto found = players_.find(id);
  if (found == players_.end()) return;
  Player& player = found->second;
  const auto open = player.questions.find(ask);
  if (open == player.questions.end()) return;
  const auto operation = std::move(open->second);
  // Answers to earlier questions are older.
  player.questions.erase(player.questions.begin(), std::next(open));
  ComPtr<smtc::MediaProperties> properties;
  const bool isRead =
      status == smtc::kAsyncCompleted && SUCCEEDED(operation->getResults(properties.put())) && properties;
  const auto metadata = isRead ? smtc::readMetadata(*properties.get()) : SessionMetadata{};
  {
    const std::lock_guard lock(shared_->mutex);
    if (isRead)
      shared_->table.setMetadata(id, metadata);
    else
      shared_->table.setAnswered(id);
  }
  if (player.questions.empty()) {
    noteRead(player, smtc::kMetadataNews, isRead);
    if (player.isAskedAgain) askMetadata(id, player);
  }
  readLater(id, player);
  onNews_();
}

void SmtcPlayers::command(const std::string& id, MediaVerb verb, double value,
                          const std::function<void(const MediaReply&)>& done) {
  const auto found = players_.find(id);
  if (found == players_.end()) return done({MediaOutcome::kGone, "it has ended"});
  Player& player = found->second;
  if (player.unanswered >= kMaxUnanswered)
    return done({MediaOutcome::kFailed, "it has not answered the previous commands"});
  if (isSo(*player.session.get(), verb)) return done({MediaOutcome::kDone, ""});
  std::int64_t start = 0;
  {
    const std::lock_guard lock(shared_->mutex);
    start = shared_->table.startOf(id);
  }
  Command command{id, verb, {}, done};
  HRESULT code = smtc::start(*player.session.get(), verb, ticksOf(value, start), command.operation);
  const std::uint64_t number = ++lastCommand_;
  if (SUCCEEDED(code))
    code = smtc::whenCompleted(*command.operation.get(), smtc::kBooleanCompleted, loop_, weak_from_this(),
                               [number](SmtcPlayers& self, int status) { self.onCommanded(number, status); });
  if (FAILED(code)) return done(replyOf(code));
  ++player.unanswered;
  underWay_.emplace(number, std::move(command));
}

void SmtcPlayers::onCommanded(std::uint64_t number, int status) {
  const auto found = underWay_.find(number);
  if (found == underWay_.end()) return;
  const Command command = std::move(found->second);
  underWay_.erase(found);
  smtc::Boolean isTaken = 0;
  const HRESULT code = status == smtc::kAsyncCompleted ? command.operation->getResults(&isTaken)
                                                       : smtc::errorOf(*command.operation.get());
  if (status == smtc::kAsyncCanceled)
    command.done({MediaOutcome::kFailed, "Windows cancelled it"});
  else if (SUCCEEDED(code) && isTaken == 0)
    command.done({MediaOutcome::kFailed, "it refused"});
  else
    command.done(replyOf(code));
  const auto player = players_.find(command.id);
  if (player == players_.end()) return;
  --player->second.unanswered;
  // Not every player reports the new position.
  if (command.verb == MediaVerb::kSeek && player->second.events->add(smtc::kTimelineNews))
    onEvent(command.id);
}

}  // namespace hostwire
