// One announcement that Windows has. Everything here runs on the command thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "host/discovery.h"
#include "windows/discovery/dns_calls.h"
#include "windows/task_loop.h"

namespace hostwire {

class Registration : public std::enable_shared_from_this<Registration> {
 public:
  // `onChange`: `now` has changed.
  Registration(const DnsCalls& calls, std::shared_ptr<TaskLoop> loop, Announcement wanted,
               std::function<void()> onChange);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  void begin();
  // Withdraws it; `onDone` is called when Windows has done so, or does not answer.
  void end(std::function<void()> onDone);

  const Announced& now() const { return now_; }

 private:
  enum class State { kNew, kAdding, kAdded, kFailed, kEnded };
  using Call = decltype(DnsCalls::add);
  struct Ticket;

  void ask(Call call, void (Registration::*then)(DWORD status, const std::string& name));
  static void WINAPI onComplete(DWORD status, void* context, PDNS_SERVICE_INSTANCE instance);
  void added(DWORD status, const std::string& name);
  void removed(DWORD status, const std::string& name);
  void finish();

  const DnsCalls& calls_;
  const std::shared_ptr<TaskLoop> loop_;
  const Announcement wanted_;
  const std::function<void()> onChange_;
  PDNS_SERVICE_INSTANCE instance_ = nullptr;
  State state_ = State::kNew;
  Announced now_;
  std::function<void()> onDone_;
};

}  // namespace hostwire
