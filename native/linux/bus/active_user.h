// Finds the user at the machine and the address of that user's session bus, from logind's seat0.
#pragma once

#include <functional>
#include <string>

#include "linux/bus/address.h"
#include "linux/bus/connection.h"

namespace hostwire {

class ActiveUser {
 public:
  // `onAddress` receives the address of the active user's session bus, or the reason for its absence, on
  // the bus thread.
  ActiveUser(BusConnection& system, std::function<void(BusAddress)> onAddress);

  // Asks logind; from then on also reports every change.
  void find();

 private:
  void ask();
  void askSession(const std::string& path, unsigned round);
  void askUser(const std::string& path, unsigned round);
  void reportNone(std::string reason);

  BusConnection& system_;
  std::function<void(BusAddress)> onAddress_;
  bool isWatching_ = false;
  // Answers to an earlier question are ignored.
  unsigned round_ = 0;
};

}  // namespace hostwire
