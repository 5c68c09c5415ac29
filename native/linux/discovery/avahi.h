// Calls to Avahi and its answers: avahi-daemon's D-Bus interface (org.freedesktop.Avahi.Server.xml and its
// siblings, version 0.6 and later).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "host/discovery.h"
#include "linux/bus/call.h"

namespace hostwire::avahi {

// Avahi's name in messages.
inline constexpr const char* kName = "Avahi";
// Deadline of a call; an answer takes less than a millisecond.
inline constexpr std::chrono::milliseconds kDeadline{2000};

// Selects signals of our own groups and browsers only: Avahi sends each to the client that made it.
inline constexpr const char* kOwnerRule =
    "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',"
    "arg0='org.freedesktop.Avahi'";
inline constexpr const char* kServerRule =
    "type='signal',sender='org.freedesktop.Avahi',path='/',interface='org.freedesktop.Avahi.Server',"
    "member='StateChanged'";
inline constexpr const char* kGroupRule =
    "type='signal',sender='org.freedesktop.Avahi',interface='org.freedesktop.Avahi.EntryGroup',"
    "member='StateChanged'";
inline constexpr const char* kBrowserRule =
    "type='signal',sender='org.freedesktop.Avahi',interface='org.freedesktop.Avahi.ServiceBrowser'";

// AvahiServerState and AvahiEntryGroupState of avahi-common/defs.h
enum class ServerState { kInvalid, kRegistering, kRunning, kCollision, kFailure };
enum class GroupState { kUncommitted, kRegistering, kEstablished, kCollision, kFailure };

// Returns the path of a group or browser that an answer names; nothing if it names no object.
std::optional<std::string> readObject(BodyReader& body);
std::optional<ServerState> readServerState(BodyReader& body);
struct GroupNews {
  GroupState state;
  std::string error;  // the name of Avahi's error; empty without one
};
std::optional<GroupNews> readGroupNews(BodyReader& body);

Call stateCall();                               // i, a ServerState
Call versionCall();                             // s
Call alternativeCall(const std::string& name);  // s
Call newGroupCall();                            // o
Call addCall(const std::string& group, const std::string& name, const Announcement& announcement);
Call commitCall(const std::string& group);
// Removes the entries of the group, which can be filled again.
Call resetCall(const std::string& group);
Call freeGroupCall(const std::string& group);

// Returns whether a name is taken by this host or by another.
bool isCollision(const Reply& reply);

Call newBrowserCall();  // o
Call freeBrowserCall(const std::string& browser);

// A browser's report: a service on one interface, by one protocol.
struct Item {
  std::int32_t link;
  std::int32_t protocol;
  std::string name;
  std::string domain;

  bool operator<(const Item& other) const {
    return std::tie(link, protocol, name, domain) <
           std::tie(other.link, other.protocol, other.name, other.domain);
  }
};
std::optional<Item> readItem(BodyReader& body);
Call resolveCall(const Item& item);
std::optional<FoundService> readResolved(BodyReader& body);

}  // namespace hostwire::avahi
