// Why a call on the system bus failed.
#pragma once

#include <string>
#include <string_view>

#include "linux/bus/call.h"

namespace hostwire {

// The peer, or the bus on its behalf, answered with the error of this name.
bool isError(const Reply& reply, std::string_view name);

// No service has the name that was called.
bool isNobody(const Reply& reply);

// A sentence about `who` without a full stop; of a call that was answered: the answer cannot be read.
std::string failureText(const Reply& reply, const std::string& who);

}  // namespace hostwire
