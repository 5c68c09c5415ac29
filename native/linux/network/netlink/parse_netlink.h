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
  std::vector<std::string_view> payloads;  // data after the netlink headers
  bool isLast = false;                     // the end of a dump, or an acknowledgement
  bool isInterrupted = false;              // objects changed during the dump: some may be missing
  int error = 0;                           // an errno: the kernel refused
};

// Returns the messages in `bytes` that answer the request numbered `sequence`. A truncated one is left out.
NetlinkPart parseNetlink(std::string_view bytes, std::uint32_t sequence);

struct NetlinkAttribute {
  unsigned type = 0;
  std::string_view value;
};

// Removes the next attribute from `bytes`. Returns false at the end, and if the rest is not an attribute.
bool takeAttribute(std::string_view& bytes, NetlinkAttribute& attribute);
// Returns the value of the first attribute of this type; empty if it is missing.
std::string_view findAttribute(std::string_view bytes, unsigned type);

// Returns the T at the beginning of `bytes`; nothing if they are too short.
template <class T>
std::optional<T> valueOf(std::string_view bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace hostwire
