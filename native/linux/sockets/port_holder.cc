// proc_net_tcp(5) has the inodes of sockets that listen, and /proc/PID/fd the processes that hold them.
#include "host/port_holder.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>
#include <vector>

#include "linux/kernel/directory.h"
#include "linux/kernel/file.h"
#include "linux/kernel/text.h"

namespace hostwire {
namespace {

std::vector<std::string_view> wordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

// The columns: number, local address, remote address, state, queues, timer, retransmits, uid, timeout, inode.
constexpr std::size_t kLocal = 1;
constexpr std::size_t kState = 3;
constexpr std::size_t kInode = 9;
constexpr std::string_view kListening = "0A";

std::set<std::string> listenersIn(const std::string& table, std::uint16_t port) {
  std::set<std::string> sockets;
  const std::string text = readSmallFile(table);
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const auto words = wordsOf(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (words.size() <= kInode || words[kState] != kListening) continue;
    const std::string_view local = words[kLocal].substr(words[kLocal].rfind(':') + 1);
    unsigned found = 0;
    std::from_chars(local.data(), local.data() + local.size(), found, 16);
    if (found == port) sockets.insert("socket:[" + std::string(words[kInode]) + "]");
  }
  return sockets;
}

bool holdsOne(const std::string& folder, const std::set<std::string>& sockets) {
  for (const std::string& name : listFolder(folder)) {
    std::array<char, 64> target{};
    std::string path = folder;
    path.append("/").append(name);
    const ssize_t length = readlink(path.c_str(), target.data(), target.size());
    if (length > 0 && sockets.count(std::string(target.data(), static_cast<std::size_t>(length))) > 0)
      return true;
  }
  return false;
}

}  // namespace

std::optional<PortHolder> findPortHolder(std::uint16_t port) {
  std::set<std::string> sockets = listenersIn("/proc/net/tcp", port);
  sockets.merge(listenersIn("/proc/net/tcp6", port));
  if (sockets.empty()) return std::nullopt;
  for (const std::string& name : listFolder("/proc")) {
    int pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size())
      continue;
    const std::string folder = "/proc/" + name;
    if (!holdsOne(folder + "/fd", sockets)) continue;
    std::string comm = readSmallFile(folder + "/comm");
    if (comm.ends_with('\n')) comm.pop_back();
    return PortHolder{pid, toValidUtf8(comm)};
  }
  return std::nullopt;
}

}  // namespace hostwire
