// Whose processes they are. Windows names users by texts of any length; here each has a number.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "host/process.h"
#include "windows/win32/win32.h"

namespace hostwire {

class ProcessOwners {
 public:
  // The user of nobody who may be asked.
  static constexpr std::uint32_t kUnknown = 0;

  // May ask a server of the network for a name that is new.
  std::uint32_t ownerOf(HANDLE process);
  std::vector<ProcessOwner> named(const std::set<std::uint32_t>& wanted) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::uint32_t> numbers_;  // by the user's identifier, as its bytes
  std::map<std::uint32_t, std::string> names_;
};

}  // namespace hostwire
