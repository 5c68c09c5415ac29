// The sessions of Windows one by one: taken up, read when there is news of them, asked what they play.
#include <algorithm>
#include <chrono>
#include <utility>

#include "windows/smtc.h"
#include "windows/smtc_clock.h"
#include "windows/smtc_ids.h"

namespace hostwire {
namespace {

using smtc::nowMs;
using std::chrono::milliseconds;

// A player may change thousands of times a second.
constexpr double kPaceMs = 50;
// One that has not said what it plays in so long may be asked again, when there is news of it.
constexpr double kPatienceMs = 5000;

}  // namespace

ComPtr<IUnknown> Smtc::identityOf(smtc::Session& session) {
  ComPtr<IUnknown> identity;
  if (FAILED(session.QueryInterface(smtc::kUnknown, identity.putVoid()))) identity.reset();
  return identity;
}

void Smtc::adopt(ComPtr<smtc::Session> session, std::map<std::string, Player>& left) {
  const auto identity = identityOf(*session.get());
  const auto known = std::find_if(left.begin(), left.end(), [&](const auto& entry) {
    return entry.second.identity.get() == identity.get();
  });
  if (known != left.end()) {
    players_.insert(left.extract(known));
    return;
  }
  const std::string id = std::to_string(++lastId_);
  Player& player = players_[id];
  player.session = std::move(session);
  player.identity = identity;
  const std::string name = smtc::readAppUserModelId(*player.session.get());
  {
    const std::lock_guard lock(mutex_);
    table_.add(id, name);
  }
  // First of all, so that no change between this and the reading is missed.
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
  const double wait = found->second.readAtMs + kPaceMs - nowMs();
  if (wait <= 0) return readNews(id);
  loop_->after(milliseconds{static_cast<int>(wait) + 1}, [weak = weak_from_this(), id] {
    if (const auto self = weak.lock()) self->readNews(id);
  });
}

void Smtc::readNews(const std::string& id) {
  const auto found = players_.find(id);
  if (found == players_.end()) return;
  Player& player = found->second;
  player.readAtMs = nowMs();
  const unsigned news = player.events->take();
  if ((news & smtc::kPlaybackNews) != 0) {
    const auto playback = smtc::readPlayback(*player.session.get());
    const std::lock_guard lock(mutex_);
    // Those who played before anybody asked have all played equally long.
    if (playback) table_.setPlayback(id, *playback, isFirstList_ ? connectedMs_ : nowMs());
  }
  if ((news & smtc::kTimelineNews) != 0) {
    const auto timeline = smtc::readTimeline(*player.session.get());
    const std::lock_guard lock(mutex_);
    if (timeline) table_.setTimeline(id, *timeline, smtc::now());
  }
  if ((news & smtc::kMetadataNews) != 0) askMetadata(id, player);
  tell();
}

void Smtc::askMetadata(const std::string& id, Player& player) {
  if (player.asking && nowMs() - player.askedAtMs < kPatienceMs) {
    player.isAskedAgain = true;
    return;
  }
  player.isAskedAgain = false;
  player.askedAtMs = nowMs();
  const unsigned ask = ++player.asks;
  HRESULT code = player.session->tryGetMediaProperties(player.asking.put());
  if (SUCCEEDED(code))
    code = whenCompleted(*player.asking.get(), smtc::kMediaPropertiesCompleted,
                         [id, ask](Smtc& self, int status) { self.onMetadata(id, ask, status); });
  if (SUCCEEDED(code)) return;
  player.asking.reset();
  const std::lock_guard lock(mutex_);
  table_.setAnswered(id);
}

void Smtc::onMetadata(const std::string& id, unsigned ask, int status) {
  const auto found = players_.find(id);
  if (found == players_.end() || found->second.asks != ask) return;
  Player& player = found->second;
  const auto operation = std::exchange(player.asking, {});
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
  if (player.isAskedAgain) askMetadata(id, player);
  tell();
}

}  // namespace hostwire
