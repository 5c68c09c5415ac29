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

std::optional<Library> open(const char* name) {
  void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return std::nullopt;
  Library library{{}, name};
  for (const Row& row : kRows) {
    void* const symbol = dlsym(handle, row.symbol);
    if (symbol == nullptr) {
      dlclose(handle);
      return std::nullopt;
    }
    // POSIX guarantees that a function pointer fits a void*; memcpy expresses that without a cast.
    std::memcpy(reinterpret_cast<char*>(&library.functions) + row.offset, &symbol, sizeof symbol);
  }
  return library;
}

std::optional<Library> openFirst() {
  for (const char* name : {"libsystemd.so.0", "libelogind.so.0", "libbasu.so.0"})
    if (auto library = open(name)) return library;
  return std::nullopt;
}

}  // namespace

const Library* findLibrary() {
  // Never closed: the library has per-thread data whose destructor is called when the thread ends.
  static const std::optional<Library> found = openFirst();
  return found ? &*found : nullptr;
}

}  // namespace hostwire::sdbus
