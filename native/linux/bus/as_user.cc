// Another user's ids for one thread: setresuid(2), "C library/kernel differences". libc's functions would
// change all threads.
#include "linux/bus/as_user.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace hostwire {
namespace {

bool setEffectiveUser(std::uint32_t uid) { return syscall(SYS_setresuid, kSameId, long{uid}, kSameId) == 0; }
bool setEffectiveGroup(std::uint32_t gid) { return syscall(SYS_setresgid, kSameId, long{gid}, kSameId) == 0; }

}  // namespace

bool mayDump() {
  static const bool wasDumpable = prctl(PR_GET_DUMPABLE) == 1;
  return wasDumpable;
}

int asUser(const BusUser& user, const std::function<int()>& work) {
  const std::uint32_t ownUid = geteuid();
  const std::uint32_t ownGid = getegid();
  static_cast<void>(mayDump());
  if (!setEffectiveGroup(user.gid)) return -errno;
  int result = 0;
  if (setEffectiveUser(user.uid)) {
    result = work();
    // This user may not change the group, so our own user id is restored first. The real and saved ids are
    // still root's, so this cannot fail.
    setEffectiveUser(ownUid);
  } else {
    result = -errno;
  }
  setEffectiveGroup(ownGid);
  if (mayDump()) prctl(PR_SET_DUMPABLE, 1);
  return result;
}

}  // namespace hostwire
