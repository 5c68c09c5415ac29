// The media sessions of Windows (GlobalSystemMediaTransportControls): found, watched, queried, commanded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "host/media.h"
#include "windows/media/session_table.h"
#include "windows/media/smtc_abi.h"
#include "windows/media/smtc_handlers.h"
#include "windows/media/smtc_session.h"
#include "windows/task_loop.h"
#include "windows/win32/com.h"

namespace hostwire {

// Has a thread of its own, in the multithreaded apartment, which no other thread waits for: a call to Windows
// may hang there.
class Smtc : public std::enable_shared_from_this<Smtc> {
 public:
  // `onChange` is run by `commands` after each change, once all initial questions are settled.
  Smtc(std::shared_ptr<TaskLoop> commands, std::function<void()> onChange);

  // Both may be called on any thread. False when no thread could be started.
  bool begin();
  // Stops all reports; the thread ends when it can.
  void end() { loop_->end(); }
  MediaSnapshot read() const;
  // `done` is called on this object's thread, or never when that hangs.
  void control(const std::string& id, MediaVerb verb, double value,
               std::function<void(const MediaReply&)> done);

 private:
  struct Player {
    ComPtr<smtc::Session> session;
    ComPtr<IUnknown> identity;  // equal for two pointers to one object
    std::string appUserModelId;
    std::unique_ptr<smtc::SessionEvents> events;
    double readAtMs = 0;
    // Questions for its track, by number: an earlier one may still be answered.
    std::map<unsigned, ComPtr<smtc::AsyncProperties>> asking;
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

  // All of these run on this object's thread.
  void run();
  void connect();
  // Returns why it failed; an empty text: the request has been sent.
  std::string request();
  void onManager(int status);
  void fail(const std::string& reason);
  void retryLater();
  void forget();
  void lose(HRESULT code);
  void list();
  void markCurrent();
  void listLater();
  // Returns the id of a new session, which is not reported yet, and whose events are not subscribed to.
  std::optional<std::string> adopt(ComPtr<smtc::Session> session, std::map<std::string, Player>& left);
  void listen(const std::string& id);
  void onNews(const std::string& id);
  void readNews(const std::string& id);
  void read(const std::string& id, Player& player, unsigned news);
  void noteRead(Player& player, unsigned news, bool isRead);
  // Reads again after a pause, which grows each time, up to a maximum number of attempts.
  void readLater(const std::string& id, Player& player);
  void readAgain(const std::string& id);
  void askMetadata(const std::string& id, Player& player);
  void onMetadata(const std::string& id, unsigned ask, int status);
  void command(const std::string& id, MediaVerb verb, double value,
               const std::function<void(const MediaReply&)>& done);
  void onCommanded(std::uint64_t number, int status);
  // Runs `then` here when `operation` has completed.
  template <class Result>
  HRESULT whenCompleted(smtc::AsyncOperation<Result>& operation, const GUID& handlerId,
                        std::function<void(Smtc&, int status)> then);
  static ComPtr<IUnknown> identityOf(smtc::Session& session);
  bool isQuiet() const;
  void notify();

  // May be called on any thread: the initial questions are answered, or are no longer waited for.
  void settle();

  const std::shared_ptr<TaskLoop> commands_;
  const std::function<void()> onChange_;
  const std::shared_ptr<TaskLoop> loop_ = std::make_shared<TaskLoop>();
  ComPtr<smtc::AsyncManager> requesting_;
  ComPtr<smtc::Manager> manager_;
  EventRegistrationToken sessionsChanged_{};
  std::map<std::string, Player> players_;
  std::uint64_t lastId_ = 0;
  std::map<std::uint64_t, Command> underWay_;
  std::uint64_t lastCommand_ = 0;
  double connectedMs_ = 0;
  bool isFirstList_ = true;
  int listsAgain_ = 0;  // since the last complete one

  mutable std::mutex mutex_;
  SessionTable table_;
  std::optional<std::string> absence_;
  bool isSettled_ = false;
  bool isReached_ = false;
};

template <class Result>
HRESULT Smtc::whenCompleted(smtc::AsyncOperation<Result>& operation, const GUID& handlerId,
                            std::function<void(Smtc&, int status)> then) {
  const auto handler = smtc::onCompleted(
      handlerId, [weak = weak_from_this(), loop = loop_, then = std::move(then)](int status) {
        loop->post([weak, then, status] {
          if (const auto self = weak.lock()) then(*self, status);
        });
      });
  return operation.putCompleted(handler.get());
}

}  // namespace hostwire
