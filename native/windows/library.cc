// Not read on Windows yet.
#include "host/library.h"

#include <cerrno>

#include "host/error.h"

namespace hostwire {

Library::Library(const std::string& path) { throw HostError(ENOTSUP, "open " + path); }
Library::~Library() = default;
void* Library::find(const char*) const { return handle_; }

}  // namespace hostwire
