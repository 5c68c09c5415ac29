// The rights of a user: unix(7) (SO_PEERCRED, SO_PEERGROUPS), credentials(7), capabilities(7).
#include "linux/bus/user_rights.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "host/error.h"
#include "linux/bus/as_user.h"

namespace hostwire {
namespace {

// SO_PEERCRED reports this id where no user is known; to setresuid(2) it means "no change".
constexpr std::uint32_t kNobody = UINT32_MAX;
// The kernel's own limit (NGROUPS_MAX).
constexpr std::size_t kMaxGroups = 65536;

#ifdef SYS_setgroups32
constexpr long kSetGroups = SYS_setgroups32;  // the other one takes 16 bits per group
#else
constexpr long kSetGroups = SYS_setgroups;
#endif

using Capabilities = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

[[noreturn]] void fail(int code) { throw HostError(code, "take the rights of the player's user"); }

// Returns an empty list on kernels before 4.13, which do not report groups.
std::vector<std::uint32_t> groupsOfPeer(int socket) {
  std::vector<std::uint32_t> groups(64);
  while (groups.size() <= kMaxGroups) {
    auto bytes = static_cast<socklen_t>(groups.size() * sizeof(std::uint32_t));
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) == 0) {
      groups.resize(bytes / sizeof(std::uint32_t));
      return groups;
    }
    if (errno != ERANGE) break;
    groups.resize(groups.size() * 2);
  }
  return {};
}

// glibc's functions of these names would change all threads: setresuid(2), "C library/kernel differences".
void setIds(const UserRights& user) {
  if (syscall(kSetGroups, user.groups.size(), user.groups.data()) != 0) fail(errno);
  if (syscall(SYS_setresgid, kSameId, long{user.gid}, kSameId) != 0) fail(errno);
  if (syscall(SYS_setresuid, kSameId, long{user.uid}, kSameId) != 0) fail(errno);
}

bool hasGroups(std::vector<std::uint32_t> wanted) {
  const int count = getgroups(0, nullptr);
  if (count < 0) return false;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  if (count > 0 && getgroups(count, groups.data()) != count) return false;
  std::sort(groups.begin(), groups.end());
  std::sort(wanted.begin(), wanted.end());
  return std::equal(groups.begin(), groups.end(), wanted.begin(), wanted.end());
}

// The ids for files follow the effective ones; -1 only reads them (setfsuid(2)).
bool hasIds(const UserRights& user) {
  return geteuid() == user.uid && getegid() == user.gid && syscall(SYS_setfsuid, kSameId) == long{user.uid} &&
         syscall(SYS_setfsgid, kSameId) == long{user.gid} && hasGroups(user.groups);
}

// A change of ids drops capabilities only if the old user was root, and even then not under every setting
// (SECBIT_NO_SETUID_FIXUP); a service's own user may have some, too.
void dropCapabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  Capabilities own{};
  const auto isAnyLeft = [&] {
    if (syscall(SYS_capget, &header, own.data()) != 0) fail(errno);
    return std::any_of(own.begin(), own.end(), [](const auto& word) { return word.effective != 0; });
  };
  if (!isAnyLeft()) return;
  for (auto& word : own) word.effective = 0;
  if (syscall(SYS_capset, &header, own.data()) != 0) fail(errno);
  if (isAnyLeft()) fail(EPERM);
}

}  // namespace

std::optional<UserRights> rightsOfPeer(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return std::nullopt;
  if (peer.uid == kNobody || peer.gid == kNobody) return std::nullopt;
  return UserRights{peer.uid, peer.gid, groupsOfPeer(socket)};
}

UserThread::UserThread(const UserRights& user) {
  if (user.uid == kNobody || user.gid == kNobody) fail(EINVAL);
  const bool isOwn = geteuid() == user.uid;
  if (!isOwn) setIds(user);
  if (!isOwn && !hasIds(user)) fail(EPERM);
  if (user.uid != 0) dropCapabilities();
}

UserThread::Dumps::Dumps() { static_cast<void>(mayDump()); }

UserThread::Dumps::~Dumps() {
  if (mayDump()) prctl(PR_SET_DUMPABLE, 1);
}

}  // namespace hostwire
