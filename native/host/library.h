// Shared libraries that are opened at run time, so that neither building nor starting needs them.
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

  // The address of a function; null where the library has none of that name.
  void* find(const char* symbol) const;

 private:
  void* handle_ = nullptr;
};

// The rows of `hostwire doctor` on the libraries of the system that have a least version.
Findings describeLibraries();

}  // namespace hostwire
