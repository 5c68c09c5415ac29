// Listing folders of /sys.
#pragma once

#include <string>
#include <vector>

namespace hostwire {

// The names in a folder, sorted, without "." and ".."; empty where it cannot be read.
std::vector<std::string> listFolder(const std::string& path);

// Whether a file of that name exists; a dangling link does.
bool isPresent(const std::string& path);

// False only where there is none: what cannot be looked at now may exist.
bool mayBePresent(const std::string& path);

// The target of a symbolic link; empty where there is none.
std::string linkTarget(const std::string& path);
// The last name in that target: of /sys/bus/pci/devices/ADDRESS/driver the driver's.
std::string linkedName(const std::string& path);

}  // namespace hostwire
