// Who sits at the machine, and where that user's session bus is: logind's seat0 tells.
#pragma once

#include <functional>
#include <string>

#include "linux/bus/address.h"
#include "linux/bus/connection.h"

namespace hostwire {

class ActiveUser {
 public:
  // `onAddress` is told the address of the active user's session bus, or why there is none, on the bus
  // thread.
  ActiveUser(BusConnection& system, std::function<void(BusAddress)> onAddress);

  // Asks; from then on it also tells of every change.
  void find();

 private:
  void ask();
  void askSession(const std::string& path, unsigned round);
  void askUser(const std::string& path, unsigned round);
  void tellNone(std::string reason);

  BusConnection& system_;
  std::function<void(BusAddress)> onAddress_;
  bool isWatching_ = false;
  // Answers to an older question are not listened to.
  unsigned round_ = 0;
};

}  // namespace hostwire
