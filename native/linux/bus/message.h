// Writes a method call for sd-bus.
#pragma once

#include <memory>

#include "linux/bus/call.h"

namespace hostwire {

namespace sdbus {
struct Bus;
struct Functions;
struct Message;
}  // namespace sdbus

struct MessageUnref {
  const sdbus::Functions* functions;
  void operator()(sdbus::Message* message) const;
};
using OwnedMessage = std::unique_ptr<sdbus::Message, MessageUnref>;

// Returns null when sd-bus refuses a name, a path or a text (which must be valid UTF-8).
OwnedMessage writeCall(const sdbus::Functions& functions, sdbus::Bus* bus, const Call& call);

// Returns the first line of a peer's text, cut: some send a whole traceback.
std::string oneLine(std::string_view text);

// Returns the description of an errno; may be called on any thread.
std::string errorWords(int error);

}  // namespace hostwire
