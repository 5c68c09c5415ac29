// Lists folders of /sys.
#pragma once

#include <string>
#include <vector>

namespace hostwire {

// Returns the names in a folder, sorted, without "." and ".."; empty if it cannot be read.
std::vector<std::string> listFolder(const std::string& path);

// Returns whether a file of that name exists; a dangling link does.
bool isPresent(const std::string& path);

// Returns false only if no such file exists: one that cannot be examined now may exist.
bool mayBePresent(const std::string& path);

// Returns the target of a symbolic link; empty if it is not one.
std::string linkTarget(const std::string& path);
// Returns the last name in that target: for /sys/bus/pci/devices/ADDRESS/driver the driver's.
std::string linkedName(const std::string& path);

}  // namespace hostwire
