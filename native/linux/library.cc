// Shared libraries: dlopen(3).
#include "host/library.h"

#include <dlfcn.h>

#include <stdexcept>

namespace hostwire {

Library::Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ != nullptr) return;
  const char* reason = dlerror();
  throw std::runtime_error(reason != nullptr ? reason : "cannot open " + path);
}

Library::~Library() { dlclose(handle_); }

void* Library::find(const char* symbol) const { return dlsym(handle_, symbol); }

}  // namespace hostwire
