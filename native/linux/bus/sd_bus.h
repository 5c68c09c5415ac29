// The part of sd-bus that the bus folder uses, declared by hand and found at run time: neither building nor
// running requires the library. test/native/sd_bus_types.cc checks these types against the real header.
#pragma once

#include <cstdint>
#include <string>

#include "host/finding.h"

namespace hostwire::sdbus {

struct Bus;
struct Message;
struct Slot;
struct Error {
  const char* name;
  const char* message;
  int needsFree;
};
using Handler = int (*)(Message*, void*, Error*);

// Named as the library names them, without "sd_bus_". A negative int is an errno.
// NOLINTBEGIN(readability-identifier-naming)
struct Functions {
  int (*create)(Bus**);  // sd_bus_new
  int (*set_address)(Bus*, const char*);
  int (*set_bus_client)(Bus*, int);
  int (*negotiate_fds)(Bus*, int);
  int (*start)(Bus*);
  int (*is_ready)(Bus*);
  int (*get_fd)(Bus*);
  int (*get_events)(Bus*);
  int (*get_timeout)(Bus*, std::uint64_t*);
  int (*process)(Bus*, Message**);
  Bus* (*close_unref)(Bus*);
  int (*call_async)(Bus*, Slot**, Message*, Handler, void*, std::uint64_t);
  int (*add_match_async)(Bus*, Slot**, const char*, Handler, Handler, void*);
  Slot* (*slot_unref)(Slot*);
  int (*message_new_method_call)(Bus*, Message**, const char*, const char*, const char*, const char*);
  Message* (*message_unref)(Message*);
  int (*message_set_auto_start)(Message*, int);
  int (*message_append_basic)(Message*, char, const void*);
  int (*message_open_container)(Message*, char, const char*);
  int (*message_close_container)(Message*);
  int (*message_read_basic)(Message*, char, void*);
  int (*message_peek_type)(Message*, char*, const char**);
  int (*message_enter_container)(Message*, char, const char*);
  int (*message_exit_container)(Message*);
  int (*message_skip)(Message*, const char*);
  int (*message_at_end)(Message*, int);
  const char* (*message_get_sender)(Message*);
  const char* (*message_get_path)(Message*);
  const char* (*message_get_member)(Message*);
  const Error* (*message_get_error)(Message*);
};
// NOLINTEND(readability-identifier-naming)

struct Library {
  Functions functions;
  const char* name;  // "libsystemd.so.0"
};

// Returns the first of libsystemd, libelogind and libbasu that has every function; null if none has. It stays
// loaded for the life of the process. The first call takes about a millisecond.
const Library* findLibrary();
// Returns why none was found.
std::string whyNoLibrary();

}  // namespace hostwire::sdbus

namespace hostwire {

// Returns the row of `hostwire doctor`.
Finding describeBusLibrary();

}  // namespace hostwire
