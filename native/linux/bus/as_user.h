// Runs a function with another user's ids, on this thread alone.
#pragma once

#include <functional>

#include "linux/bus/address.h"

namespace hostwire {

// To the system calls that set the ids of a user or a group: leave this one as it is.
inline constexpr long kSameId = -1;

// Returns the result of `work`; a negative errno when this thread may not take the ids. Other threads keep
// theirs, and the user can neither signal nor trace us: only the effective ids change. Needs CAP_SETUID and
// CAP_SETGID.
int asUser(const BusUser& user, const std::function<int()>& work);

// Whether core dumps were allowed before any thread changed its ids, which makes the kernel forbid them to
// the whole process. Call it before such a change; once ids are changed on two threads at a time, asking the
// kernel would no longer answer that.
bool mayDump();

}  // namespace hostwire
