// Calls to Avahi and its answers.
#include "linux/discovery/avahi.h"

#include <net/if.h>

#include <array>
#include <utility>

#include "linux/bus/failure.h"

namespace hostwire::avahi {
namespace {

// AVAHI_IF_UNSPEC, AVAHI_PROTO_UNSPEC
constexpr std::int32_t kAny = -1;
constexpr std::uint32_t kNoFlags = 0;
// A DNS name has at most 255 bytes; written with escapes, four times as many.
constexpr std::size_t kMaxNameBytes = 1024;
// "/Client7/ServiceBrowser12"
constexpr std::size_t kMaxPathBytes = 256;
// A TXT string has at most 255 bytes; RFC 6763, 6.2 advises to keep below 1300 in all.
constexpr std::size_t kMaxTexts = 64;
constexpr std::size_t kMaxTextBytes = 255;

constexpr const char* kService = "org.freedesktop.Avahi";

Call serverMethod(const char* member, std::vector<Argument> arguments = {}) {
  return {kService, "/", "org.freedesktop.Avahi.Server", member, std::move(arguments)};
}

Call groupMethod(const std::string& path, const char* member, std::vector<Argument> arguments = {}) {
  return {kService, path, "org.freedesktop.Avahi.EntryGroup", member, std::move(arguments)};
}

Argument text(std::string value) { return BasicArgument(std::move(value)); }
Argument number(std::int32_t value) { return BasicArgument(value); }
Argument flags() { return BasicArgument(kNoFlags); }

// A number of any type is read as a double, which holds every integer.
std::optional<std::int32_t> readInteger(BodyReader& body) {
  const auto number = body.number();
  if (!number || !(*number >= INT32_MIN && *number <= INT32_MAX)) return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

template <class State>
std::optional<State> readState(BodyReader& body, State last) {
  const auto number = readInteger(body);
  if (!number || *number < 0 || *number > static_cast<std::int32_t>(last)) return std::nullopt;
  return static_cast<State>(*number);
}

std::int32_t linkOf(const std::string& name) {
  const unsigned index = name.empty() ? 0 : if_nametoindex(name.c_str());
  return index == 0 ? kAny : static_cast<std::int32_t>(index);
}

std::string nameOfLink(std::int32_t index) {
  std::array<char, IF_NAMESIZE> name{};
  if (index < 1) return "";
  return if_indextoname(static_cast<unsigned>(index), name.data()) != nullptr ? name.data() : "";
}

std::string readBytes(BodyReader& body) {
  std::string bytes;
  body.array(kMaxTextBytes, [&] {
    if (const auto byte = body.number(); byte && *byte >= 0 && *byte <= UINT8_MAX)
      bytes += static_cast<char>(static_cast<unsigned char>(*byte));
  });
  return bytes;
}

}  // namespace

std::optional<std::string> readObject(BodyReader& body) {
  if (body.peek() != 'o') return std::nullopt;
  auto path = body.text(kMaxPathBytes + 1);
  if (!path || path->size() > kMaxPathBytes) return std::nullopt;
  return path;
}

std::optional<ServerState> readServerState(BodyReader& body) {
  return readState(body, ServerState::kFailure);
}

std::optional<GroupNews> readGroupNews(BodyReader& body) {
  const auto state = readState(body, GroupState::kFailure);
  if (!state) return std::nullopt;
  return GroupNews{*state, body.text(kMaxTextBytes).value_or("")};
}

Call stateCall() { return serverMethod("GetState"); }
Call versionCall() { return serverMethod("GetVersionString"); }
Call alternativeCall(const std::string& name) {
  return serverMethod("GetAlternativeServiceName", {text(name)});
}
Call newGroupCall() { return serverMethod("EntryGroupNew"); }

// An empty domain is Avahi's own (local), an empty host this one.
Call addCall(const std::string& group, const std::string& name, const Announcement& announcement) {
  return groupMethod(
      group, "AddService",
      {number(linkOf(announcement.link)), number(kAny), flags(), text(name), text(kServiceType), text(""),
       text(""), BasicArgument(announcement.port), ByteStrings{announcement.texts}});
}

Call commitCall(const std::string& group) { return groupMethod(group, "Commit"); }
Call resetCall(const std::string& group) { return groupMethod(group, "Reset"); }
Call freeGroupCall(const std::string& group) { return groupMethod(group, "Free"); }

bool isCollision(const Reply& reply) { return isError(reply, "org.freedesktop.Avahi.CollisionError"); }

Call newBrowserCall() {
  return serverMethod("ServiceBrowserNew",
                      {number(kAny), number(kAny), text(kServiceType), text(""), flags()});
}

Call freeBrowserCall(const std::string& browser) {
  return {kService, browser, "org.freedesktop.Avahi.ServiceBrowser", "Free", {}};
}

std::optional<Item> readItem(BodyReader& body) {
  const auto link = readInteger(body);
  const auto protocol = readInteger(body);
  const auto name = body.text(kMaxNameBytes);
  body.skip();  // the type, which was asked for
  const auto domain = body.text(kMaxNameBytes);
  if (!link || !protocol || !name || !domain) return std::nullopt;
  return Item{*link, *protocol, *name, *domain};
}

Call resolveCall(const Item& item) {
  return serverMethod("ResolveService", {number(item.link), number(item.protocol), text(item.name),
                                         text(kServiceType), text(item.domain), number(kAny), flags()});
}

// iissssisqaayu: interface, protocol, name, type, domain, host, its protocol, address, port, texts, flags
std::optional<FoundService> readResolved(BodyReader& body) {
  FoundService found;
  found.link = nameOfLink(readInteger(body).value_or(0));
  body.skip();
  found.name = body.text(kMaxNameBytes).value_or("");
  body.skip();
  body.skip();
  found.host = body.text(kMaxNameBytes).value_or("");
  body.skip();
  found.address = body.text(kMaxNameBytes).value_or("");
  const auto port = body.number();
  body.array(kMaxTexts, [&] { found.texts.push_back(readBytes(body)); });
  if (found.name.empty() || !port || !(*port >= 0 && *port <= UINT16_MAX)) return std::nullopt;
  found.port = static_cast<std::uint16_t>(*port);
  return found;
}

}  // namespace hostwire::avahi
