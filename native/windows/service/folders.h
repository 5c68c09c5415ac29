// The folders of the service's configuration and log.
#pragma once

#include <string>
#include <vector>

namespace hostwire {

// Creates both: only administrators may write the first, and only they and the service may read the second.
// Returns the failures, as sentences; an existing folder is left unchanged.
std::vector<std::string> makeServiceFolders();

}  // namespace hostwire
