// Calls and signals on a bus, and how a call ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "linux/bus/body.h"

namespace hostwire {

struct ObjectPath {
  std::string text;
};
using BasicArgument = std::variant<bool, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, double,
                                   std::string, ObjectPath, std::uint16_t>;
// A value inside a variant ("v").
struct Boxed {
  BasicArgument value;
};
// An array of byte strings ("aay"), as a DNS record has them: they need not be UTF-8.
struct ByteStrings {
  std::vector<std::string> strings;
};
using Argument = std::variant<BasicArgument, Boxed, ByteStrings>;

// A method call. It never starts a service that is not running.
struct Call {
  std::string destination;
  std::string path;
  std::string interface;
  std::string member;
  std::vector<Argument> arguments;
};

enum class CallEnd {
  kAnswered,
  kRefused,   // the peer, or the bus on its behalf, answered with an error
  kTimedOut,  // it may still be carried out: D-Bus cannot withdraw a call
  kLost,      // the bus went away during the call, which may have been carried out
  kNoBus,     // it was not sent
};

struct Reply {
  CallEnd end = CallEnd::kNoBus;
  std::string errorName;  // the peer's: "org.freedesktop.DBus.Error.UnknownMethod"
  std::string errorText;  // one line to be shown, for any end but kAnswered
  BodyReader body;
};
// Called exactly once, on the bus thread, never before call() has returned. Must not throw.
using ReplyHandler = std::function<void(Reply&)>;

struct Signal {
  std::string_view sender;  // the unique name: ":1.7"
  std::string_view path;
  std::string_view member;
  BodyReader body;
};
// Called on the bus thread. Must not throw.
using SignalHandler = std::function<void(Signal&)>;

}  // namespace hostwire
