// The sessions of Windows one by one: added, read after each event, asked for their tracks.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "windows/media/smtc.h"
#include "windows/media/smtc_clock.h"
#include "windows/media/smtc_ids.h"

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
constexpr std::size_t kMaxAsking = 3;

}  // namespace

ComPtr<IUnknown> Smtc::identityOf(smtc::Session& session) {
  ComPtr<IUnknown> identity;
  if (FAILED(session.QueryInterface(smtc::kUnknown, identity.putVoid()))) identity.reset();
  return identity;
}

std::optional<std::string> Smtc::adopt(ComPtr<smtc::Session> session, std::map<std::string, Player>& left) {
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

void Smtc::listen(const std::string& id) {
  Player& player = players_[id];
  // First, so that no change between this and the reading is missed.
  player.events =
      std::make_unique<smtc::SessionEvents>(player.session, [weak = weak_from_this(), loop = loop_, id] {
        loop->post([weak, id] {
          if (const auto self = weak.lock()) self->onNews(id);
        });
      });
  player.events->add(smtc::kAllNews);
  readNews(id);
}

void Smtc::onNews(const std::string& id) {
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

void Smtc::readNews(const std::string& id) {
  const auto found = players_.find(id);
  if (found == players_.end()) return;
  found->second.readAtMs = nowMs();
  read(id, found->second, found->second.events->take());
}

void Smtc::read(const std::string& id, Player& player, unsigned news) {
  if ((news & smtc::kPlaybackNews) != 0) {
    const auto playback = smtc::readPlayback(*player.session.get());
    noteRead(player, smtc::kPlaybackNews, playback.has_value());
    const std::lock_guard lock(mutex_);
    // The order of players that played before the first question is unknown: all have the same time.
    if (playback) table_.setPlayback(id, *playback, isFirstList_ ? connectedMs_ : nowMs());
  }
  if ((news & smtc::kTimelineNews) != 0) {
    const auto timeline = smtc::readTimeline(*player.session.get());
    noteRead(player, smtc::kTimelineNews, timeline.has_value());
    const std::lock_guard lock(mutex_);
    if (timeline) table_.setTimeline(id, *timeline, smtc::now());
  }
  if ((news & smtc::kMetadataNews) != 0) askMetadata(id, player);
  readLater(id, player);
  notify();
}

void Smtc::noteRead(Player& player, unsigned news, bool isRead) {
  player.unread = isRead ? player.unread & ~news : player.unread | news;
  if (player.unread != 0 || !player.readingAgain) return;
  loop_->cancel(*player.readingAgain);
  player.readingAgain.reset();
}

void Smtc::readLater(const std::string& id, Player& player) {
  if (player.unread == 0 || player.readingAgain || player.readsAgain >= kMaxReadsAgain) return;
  const milliseconds pause = kPatience * (1 << player.readsAgain);
  ++player.readsAgain;
  player.readingAgain = loop_->after(pause, [weak = weak_from_this(), loop = loop_, id] {
    const auto self = weak.lock();
    if (self && !loop->isEnding()) self->readAgain(id);
  });
}

void Smtc::readAgain(const std::string& id) {
  const auto found = players_.find(id);
  if (found == players_.end()) return;
  found->second.readingAgain.reset();
  read(id, found->second, found->second.unread);
}

void Smtc::askMetadata(const std::string& id, Player& player) {
  noteRead(player, smtc::kMetadataNews, false);
  if (!player.asking.empty() && nowMs() - player.askedAtMs < kPatience.count()) {
    player.isAskedAgain = true;
    return;
  }
  player.isAskedAgain = false;
  player.askedAtMs = nowMs();
  const unsigned ask = ++player.asks;
  ComPtr<smtc::AsyncProperties> operation;
  HRESULT code = player.session->tryGetMediaProperties(operation.put());
  if (SUCCEEDED(code))
    code = whenCompleted(*operation.get(), smtc::kMediaPropertiesCompleted,
                         [id, ask](Smtc& self, int status) { self.onMetadata(id, ask, status); });
  if (FAILED(code)) {
    const std::lock_guard lock(mutex_);
    return table_.setAnswered(id);
  }
  if (player.asking.size() >= kMaxAsking) player.asking.erase(player.asking.begin());
  player.asking.emplace(ask, std::move(operation));
}

void Smtc::onMetadata(const std::string& id, unsigned ask, int status) {
  const auto found = players_.find(id);
  if (found == players_.end()) return;
  Player& player = found->second;
  const auto open = player.asking.find(ask);
  if (open == player.asking.end()) return;
  const auto operation = std::move(open->second);
  // Answers to earlier questions are older.
  player.asking.erase(player.asking.begin(), std::next(open));
  ComPtr<smtc::MediaProperties> properties;
  const bool isRead =
      status == smtc::kAsyncCompleted && SUCCEEDED(operation->getResults(properties.put())) && properties;
  const auto metadata = isRead ? smtc::readMetadata(*properties.get()) : SessionMetadata{};
  {
    const std::lock_guard lock(mutex_);
    if (isRead)
      table_.setMetadata(id, metadata);
    else
      table_.setAnswered(id);
  }
  if (player.asking.empty()) {
    noteRead(player, smtc::kMetadataNews, isRead);
    if (player.isAskedAgain) askMetadata(id, player);
  }
  readLater(id, player);
  notify();
}

}  // namespace hostwire
