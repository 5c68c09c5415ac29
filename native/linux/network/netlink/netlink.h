// A netlink socket that asks the kernel one question at a time (no library: netlink(7),
// Documentation/userspace-api/netlink/intro.rst). For a prober: the kernel answers once it has its locks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "linux/kernel/file.h"

namespace hostwire {

// Used by one thread at a time.
class Netlink {
 public:
  // NETLINK_ROUTE, NETLINK_GENERIC, …; the socket is opened with the first question.
  explicit Netlink(int protocol) : protocol_(protocol) {}

  struct Question {
    std::uint16_t type = 0;
    bool isDump = false;  // all objects instead of the one that `content` names
    std::string_view content;
  };
  // Passes the data after the netlink header of each message in the answer to `take`, which must not keep it.
  // Returns false when objects changed during a dump: some may be missing. Throws HostError when the kernel
  // refuses or does not answer.
  bool ask(const Question& question, const std::function<void(std::string_view)>& take);

 private:
  void openOnce();
  void send(const std::string& message);
  std::string_view receive();

  int protocol_;
  FileDescriptor socket_;
  std::uint32_t sequence_ = 0;
  std::string buffer_;
};

// Returns the bytes of `value`, which must outlive them.
template <class T>
std::string_view bytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace hostwire
