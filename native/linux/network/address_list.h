// The list of getifaddrs(3), freed by its owner.
#pragma once

#include <ifaddrs.h>

#include <memory>

namespace hostwire {

struct FreeAddresses {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};
using AddressList = std::unique_ptr<ifaddrs, FreeAddresses>;

}  // namespace hostwire
