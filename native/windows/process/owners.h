// The owners of processes. Windows identifies users by texts of any length; here each gets a number.
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
  // The owner of processes that cannot be queried.
  static constexpr std::uint32_t kUnknown = 0;

  // May ask a server of the network for a new name.
  std::uint32_t ownerOf(HANDLE process);
  std::vector<ProcessOwner> named(const std::set<std::uint32_t>& wanted) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::uint32_t> numbers_;  // by the user's identifier, as its bytes
  std::map<std::uint32_t, std::string> names_;
};

}  // namespace hostwire
