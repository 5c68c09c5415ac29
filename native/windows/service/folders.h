// Where the service keeps its configuration and its log.
#pragma once

#include <string>
#include <vector>

namespace hostwire {

// Makes both, so that only administrators write the one and only they and the service read the other. What
// could not be done, as sentences; a folder that is there already is left as it is.
std::vector<std::string> makeServiceFolders();

}  // namespace hostwire
