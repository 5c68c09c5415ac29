// Reads a file that another program has named.
#pragma once

#include <cstddef>
#include <string>

#include "linux/bus/user_rights.h"

namespace hostwire {

// Returns the content of the regular file `path` (absolute), read with the rights of `user`. Symbolic links
// are followed like any user's, except for those of /proc, which lead to files that this process has open.
// Only a regular file is opened, because opening a device or a pipe may have an effect. Throws HostError or
// std::runtime_error with the reason; also for an empty file, and for one of more than `maxBytes`. May hang.
// Call it on a thread that ends afterwards: it keeps the user's rights.
std::string readFileAs(const UserRights& user, const std::string& path, std::size_t maxBytes);

}  // namespace hostwire
