// The media sessions of Windows (GlobalSystemMediaTransportControls): found, watched, asked, commanded.
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

// Lives on a thread of its own, a free-threaded one, which nobody waits for: a call to Windows may hang
// there.
class Smtc : public std::enable_shared_from_this<Smtc> {
 public:
  // `onChange` is run by `commands`, after each change, as soon as all is settled.
  Smtc(std::shared_ptr<TaskLoop> commands, std::function<void()> onChange);

  // On any thread, all of these.
  // False when there is no thread to be had.
  bool begin();
  // Nothing is told any more; the thread ends when it can.
  void end() { loop_->end(); }
  MediaSnapshot read() const;
  // `done` is called on the thread in here, or never when that hangs.
  void control(const std::string& id, MediaVerb verb, double value,
               std::function<void(const MediaReply&)> done);

 private:
  struct Player {
    ComPtr<smtc::Session> session;
    ComPtr<IUnknown> identity;  // what two pointers to one object have in common
    std::string appUserModelId;
    std::unique_ptr<smtc::SessionEvents> events;
    double readAtMs = 0;
    // What it was asked of its track, by number: an earlier one may be answered all the same.
    std::map<unsigned, ComPtr<smtc::AsyncProperties>> asking;
    double askedAtMs = 0;
    bool isAskedAgain = false;
    unsigned asks = 0;
    unsigned unread = 0;  // news that could not be read, or is not answered yet
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

  // On the thread in here, all of these.
  void run();
  void connect();
  // Why not; the empty text: it is under way.
  std::string request();
  void onManager(int status);
  void fail(const std::string& reason);
  void retryLater();
  void forget();
  void lose(HRESULT code);
  void list();
  void markCurrent();
  void listLater();
  // The id of a new one: nobody has heard of it yet, and it is not listened to.
  std::optional<std::string> adopt(ComPtr<smtc::Session> session, std::map<std::string, Player>& left);
  void listen(const std::string& id);
  void onNews(const std::string& id);
  void readNews(const std::string& id);
  void read(const std::string& id, Player& player, unsigned news);
  void noteRead(Player& player, unsigned news, bool isRead);
  // What is unread is read again after a pause, a longer one each time, and not for ever.
  void readLater(const std::string& id, Player& player);
  void readAgain(const std::string& id);
  void askMetadata(const std::string& id, Player& player);
  void onMetadata(const std::string& id, unsigned ask, int status);
  void command(const std::string& id, MediaVerb verb, double value,
               const std::function<void(const MediaReply&)>& done);
  void onCommanded(std::uint64_t number, int status);
  // Has `then` run here when `operation` is over.
  template <class Result>
  HRESULT whenCompleted(smtc::AsyncOperation<Result>& operation, const GUID& handlerId,
                        std::function<void(Smtc&, int status)> then);
  static ComPtr<IUnknown> identityOf(smtc::Session& session);
  bool isQuiet() const;
  void tell();

  // On any thread: what was waited for at the beginning has come, or is not waited for any longer.
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
  int listsAgain_ = 0;  // since the last whole one

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
