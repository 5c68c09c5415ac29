// Decides with whose rights the files that players name are read: those of the player's user.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "linux/bus/address.h"
#include "linux/bus/user_rights.h"

namespace hostwire {

// Without `user` nothing may be read for the player, and `reason` says why.
struct PlayerRights {
  std::optional<UserRights> user;
  std::string reason;
};

// The users of the players on one bus. Pure.
class PlayerUsers {
 public:
  // Starts with a new connection: forgets all players. `bus`: the user that listens at the bus's socket,
  // according to the kernel. `as`: the user for whom this service has looked up the bus.
  void begin(std::optional<UserRights> bus, std::optional<BusUser> as);
  // Sets the user of the player `owner` (":1.7"), as the bus reports it.
  void set(const std::string& owner, std::uint32_t uid) { users_[owner] = uid; }
  void forget(const std::string& owner) { users_.erase(owner); }

  PlayerRights rightsOf(const std::string& owner) const;

 private:
  std::optional<UserRights> bus_;
  std::optional<BusUser> as_;
  std::map<std::string, std::uint32_t> users_;
};

}  // namespace hostwire
