// The media sessions of Windows one by one: followed, read after each event, asked for their tracks,
// commanded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "host/media.h"
#include "windows/media/session_table.h"
#include "windows/media/smtc_abi.h"
#include "windows/media/smtc_session.h"
#include "windows/task_loop.h"
#include "windows/win32/com.h"

namespace hostwire {

// The sessions as any thread may read them, with the lock held.
struct SharedSessions {
  mutable std::mutex mutex;
  SessionTable table;
  std::optional<std::string> absence;
  // The initial questions are answered, or are no longer waited for.
  bool isSettled = false;
  bool isReached = false;
};

// Everything here runs on the thread of `loop`.
class SmtcPlayers : public std::enable_shared_from_this<SmtcPlayers> {
 public:
  // `onNews` is called after each change, and when a player has answered.
  SmtcPlayers(std::shared_ptr<TaskLoop> loop, std::shared_ptr<SharedSessions> shared,
              std::function<void()> onNews);

  // Begins with the first list, of which the order of players is unknown.
  void begin();
  // Returns whether there was no list since begin.
  bool isFirst() const { return isFirst_; }
  // Takes these sessions instead of the earlier ones; those that are among both stay. `current`: the one that
  // receives Windows' own keys; null: not asked.
  void replace(std::vector<ComPtr<smtc::Session>> sessions, std::uint32_t leftOut, smtc::Session* current);
  void clear() { players_.clear(); }
  // Forgets the commands that are not answered.
  void end() { underWay_.clear(); }
  // Returns whether no player is asked for its track.
  bool isQuiet() const;
  // `done` is called in this call or later; never when the player hangs.
  void command(const std::string& id, MediaVerb verb, double value,
               const std::function<void(const MediaReply&)>& done);

 private:
  struct Player {
    ComPtr<smtc::Session> session;
    ComPtr<IUnknown> identity;  // equal for two pointers to one object
    std::string appUserModelId;
    std::unique_ptr<smtc::SessionEvents> events;
    double readAtMs = 0;
    // Questions for its track, by number: an earlier one may still be answered.
    std::map<unsigned, ComPtr<smtc::AsyncProperties>> questions;
    double askedAtMs = 0;
    bool isAskedAgain = false;
    unsigned asks = 0;
    unsigned unread = 0;  // events that could not be read, or are not answered yet
    std::optional<TaskLoop::TimerId> readingAgain;
    int readsAgain = 0;  // since the last event
    int unanswered = 0;  // commands
  };
  struct Command {
    std::string id;
    MediaVerb verb;
    ComPtr<smtc::AsyncBoolean> operation;
    std::function<void(const MediaReply&)> done;
  };

  // Returns the id of a new session, which is not reported yet, and whose events are not subscribed to.
  std::optional<std::string> adopt(ComPtr<smtc::Session> session, std::map<std::string, Player>& left);
  void markCurrent(smtc::Session& current);
  void listen(const std::string& id);
  void onEvent(const std::string& id);
  void readNews(const std::string& id);
  void read(const std::string& id, Player& player, unsigned news);
  void noteRead(Player& player, unsigned news, bool isRead);
  // Reads again after a pause, which grows each time, up to a maximum number of attempts.
  void readLater(const std::string& id, Player& player);
  void readAgain(const std::string& id);
  void askMetadata(const std::string& id, Player& player);
  void onMetadata(const std::string& id, unsigned ask, int status);
  void onCommanded(std::uint64_t number, int status);
  static ComPtr<IUnknown> identityOf(smtc::Session& session);

  const std::shared_ptr<TaskLoop> loop_;
  const std::shared_ptr<SharedSessions> shared_;
  const std::function<void()> onNews_;
  std::map<std::string, Player> players_;
  std::uint64_t lastId_ = 0;
  std::map<std::uint64_t, Command> underWay_;
  std::uint64_t lastCommand_ = 0;
  double begunMs_ = 0;
  bool isFirst_ = true;
};

}  // namespace hostwire
