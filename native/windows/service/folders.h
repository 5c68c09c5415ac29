// The folders of the service's configuration and log.
#pragma once

#include <string>
#include <vector>

namespace hostwire {

// Creates both: only administrators may write the first, and only they and the service may read the second.
// Returns what could not be done, as sentences; an existing folder is left as it is.
std::vector<std::string> makeServiceFolders();

}  // namespace hostwire
