// Finds sd-bus in the libraries that contain it: dlopen(3).
#include "linux/bus/sd_bus.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

namespace hostwire::sdbus {
namespace {

struct Row {
  const char* symbol;
  std::size_t offset;
};

constexpr std::array kRows{
    Row{"sd_bus_new", offsetof(Functions, create)},
    Row{"sd_bus_set_address", offsetof(Functions, set_address)},
    Row{"sd_bus_set_bus_client", offsetof(Functions, set_bus_client)},
    Row{"sd_bus_negotiate_fds", offsetof(Functions, negotiate_fds)},
    Row{"sd_bus_start", offsetof(Functions, start)},
    Row{"sd_bus_is_ready", offsetof(Functions, is_ready)},
    Row{"sd_bus_get_fd", offsetof(Functions, get_fd)},
    Row{"sd_bus_get_events", offsetof(Functions, get_events)},
    Row{"sd_bus_get_timeout", offsetof(Functions, get_timeout)},
    Row{"sd_bus_process", offsetof(Functions, process)},
    Row{"sd_bus_close_unref", offsetof(Functions, close_unref)},
    Row{"sd_bus_call_async", offsetof(Functions, call_async)},
    Row{"sd_bus_add_match_async", offsetof(Functions, add_match_async)},
    Row{"sd_bus_slot_unref", offsetof(Functions, slot_unref)},
    Row{"sd_bus_message_new_method_call", offsetof(Functions, message_new_method_call)},
    Row{"sd_bus_message_unref", offsetof(Functions, message_unref)},
    Row{"sd_bus_message_set_auto_start", offsetof(Functions, message_set_auto_start)},
    Row{"sd_bus_message_append_basic", offsetof(Functions, message_append_basic)},
    Row{"sd_bus_message_open_container", offsetof(Functions, message_open_container)},
    Row{"sd_bus_message_close_container", offsetof(Functions, message_close_container)},
    Row{"sd_bus_message_read_basic", offsetof(Functions, message_read_basic)},
    Row{"sd_bus_message_peek_type", offsetof(Functions, message_peek_type)},
    Row{"sd_bus_message_enter_container", offsetof(Functions, message_enter_container)},
    Row{"sd_bus_message_exit_container", offsetof(Functions, message_exit_container)},
    Row{"sd_bus_message_skip", offsetof(Functions, message_skip)},
    Row{"sd_bus_message_at_end", offsetof(Functions, message_at_end)},
    Row{"sd_bus_message_get_sender", offsetof(Functions, message_get_sender)},
    Row{"sd_bus_message_get_path", offsetof(Functions, message_get_path)},
    Row{"sd_bus_message_get_member", offsetof(Functions, message_get_member)},
    Row{"sd_bus_message_get_error", offsetof(Functions, message_get_error)},
};
static_assert(kRows.size() * sizeof(void*) == sizeof(Functions), "each function has its row");

struct Search {
  std::optional<Library> library;
  std::string reason = "none of libsystemd, libelogind and libbasu is installed";
};

// Returns false if the library is missing or too old, which `search` then notes.
bool open(const char* name, Search& search) {
  void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return false;
  Library library{{}, name};
  for (const Row& row : kRows) {
    void* const symbol = dlsym(handle, row.symbol);
    if (symbol == nullptr) {
      // The newest of these functions, sd_bus_close_unref, was added in systemd 241.
      search.reason = std::string(name) + " has no " + row.symbol + ": systemd 241 or later is needed";
      dlclose(handle);
      return false;
    }
    // POSIX guarantees that a function pointer fits a void*; memcpy expresses that without a cast.
    std::memcpy(reinterpret_cast<char*>(&library.functions) + row.offset, &symbol, sizeof symbol);
  }
  search.library = library;
  return true;
}

Search openFirst() {
  Search search;
  for (const char* name : {"libsystemd.so.0", "libelogind.so.0", "libbasu.so.0"})
    if (open(name, search)) break;
  return search;
}

const Search& search() {
  // Never closed: the library has per-thread data whose destructor is called when the thread ends.
  static const Search found = openFirst();
  return found;
}

}  // namespace

const Library* findLibrary() { return search().library ? &*search().library : nullptr; }

std::string whyNoLibrary() { return search().reason; }

}  // namespace hostwire::sdbus

namespace hostwire {

Finding describeBusLibrary() {
  const std::string subject = "d-bus";
  if (const sdbus::Library* const library = sdbus::findLibrary())
    return Finding::works(subject, library->name);
  return Finding::missing(subject, "no library", {sdbus::whyNoLibrary(), "install libsystemd0 241 or later"});
}

}  // namespace hostwire
