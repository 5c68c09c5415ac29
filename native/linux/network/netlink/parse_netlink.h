// Netlink messages and their attributes (include/uapi/linux/netlink.h): pure functions over bytes, in the
// machine's byte order.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace hostwire {

// One datagram of an answer: its contents, and whether more follows.
struct NetlinkPart {
  std::vector<std::string_view> payloads;  // what follows the netlink headers
  bool isLast = false;                     // the end of a dump, or an acknowledgement
  bool isInterrupted = false;              // objects changed during the dump: some may be missing
  int error = 0;                           // an errno: the kernel refused
};

// The messages in `bytes` that answer the request numbered `sequence`. A truncated one is left out.
NetlinkPart parseNetlink(std::string_view bytes, std::uint32_t sequence);

struct NetlinkAttribute {
  unsigned type = 0;
  std::string_view value;
};

// Removes the next attribute from `bytes`. False at the end, and where what follows is none.
bool takeAttribute(std::string_view& bytes, NetlinkAttribute& attribute);
// The value of the first attribute of this type; empty where there is none.
std::string_view findAttribute(std::string_view bytes, unsigned type);

// The T at the beginning of `bytes`; nothing where they are too short.
template <class T>
std::optional<T> valueOf(std::string_view bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace hostwire
