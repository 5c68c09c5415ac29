// The list of media sessions of Windows (GlobalSystemMediaTransportControls), and the manager that has it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "host/media.h"
#include "windows/media/smtc_abi.h"
#include "windows/media/smtc_players.h"
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
  ComPtr<smtc::Session> currentSession();
  void listLater();
  void notify();

  // May be called on any thread: the initial questions are answered, or are no longer waited for.
  void settle();

  const std::shared_ptr<TaskLoop> commands_;
  const std::function<void()> onChange_;
  const std::shared_ptr<TaskLoop> loop_ = std::make_shared<TaskLoop>();
  const std::shared_ptr<SharedSessions> shared_ = std::make_shared<SharedSessions>();
  std::shared_ptr<SmtcPlayers> players_;  // set by begin
  ComPtr<smtc::AsyncManager> requesting_;
  ComPtr<smtc::Manager> manager_;
  EventRegistrationToken sessionsChanged_{};
  int listsAgain_ = 0;  // since the last complete one
};

}  // namespace hostwire
