// Shared libraries that are opened at run time, so that neither the build nor the start needs them.
#pragma once

#include <string>

#include "host/finding.h"

namespace hostwire {

class Library {
 public:
  // Throws std::runtime_error with the loader's own message.
  explicit Library(const std::string& path);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Returns the address of a function; null if the library does not have it.
  void* find(const char* symbol) const;

 private:
  void* handle_ = nullptr;
};

// Returns the rows of `hostwire doctor` about system libraries with a minimum version.
Findings describeLibraries();

}  // namespace hostwire
