// Runs a function with another user's ids, on this thread alone.
#pragma once

#include <functional>

#include "linux/bus/address.h"

namespace hostwire {

// Leaves an id unchanged in the system calls that set the ids of a user or a group.
inline constexpr long kSameId = -1;

// Returns the result of `work`; a negative errno when this thread may not take the ids. Other threads keep
// theirs, and the user can neither signal nor trace this process: only the effective ids change. Needs
// CAP_SETUID and CAP_SETGID.
int asUser(const BusUser& user, const std::function<int()>& work);

// Returns whether core dumps were allowed before any thread changed its ids, which makes the kernel forbid
// them for the whole process. Call it before such a change; once two threads have changed ids at the same
// time, the kernel can no longer answer that.
bool mayDump();

}  // namespace hostwire
