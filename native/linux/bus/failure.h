// Why a call on the system bus failed.
#pragma once

#include <string>
#include <string_view>

#include "linux/bus/call.h"

namespace hostwire {

// Returns whether the peer, or the bus on its behalf, answered with the error of this name.
bool isError(const Reply& reply, std::string_view name);

// Returns whether no service owns the name that was called.
bool isNobody(const Reply& reply);

// Returns a sentence about `who` without a full stop; for a call that was answered: the answer cannot be
// read.
std::string failureText(const Reply& reply, const std::string& who);

}  // namespace hostwire
