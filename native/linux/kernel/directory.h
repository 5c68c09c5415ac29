// Folders of /sys, listed.
#pragma once

#include <string>
#include <vector>

namespace hostwire {

// The names in a folder, sorted, without "." and ".."; empty where it can't be read.
std::vector<std::string> listFolder(const std::string& path);

// Whether something of that name exists; a dangling link does.
bool isPresent(const std::string& path);

// False only where there is none: what can't be looked at now may be there.
bool mayBePresent(const std::string& path);

// What a symbolic link says; empty where there is none.
std::string linkTarget(const std::string& path);

}  // namespace hostwire
