// The players of the session bus (MPRIS D-Bus Interface Specification 2.2): found, watched, queried,
// commanded.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/media.h"
#include "linux/bus/call.h"
#include "linux/bus/connection.h"
#include "linux/bus/loop.h"
#include "linux/media/mpris_players.h"
#include "linux/media/player_users.h"

namespace hostwire {

// All functions but `read` and `rightsOf` run on the bus thread.
class Mpris : public std::enable_shared_from_this<Mpris> {
 public:
  Mpris(BusLoop& loop, std::function<void()> onChange) : loop_(loop), onChange_(std::move(onChange)) {}

  // Starts watching, until the loop ends.
  void start();
  void control(const std::string& id, MediaVerb verb, double value, std::chrono::milliseconds limit,
               std::function<void(const MediaReply&)> done);
  // See MediaPlayers::askArtUrl.
  void askArtUrl(const std::string& id, std::size_t maxBytes, std::chrono::milliseconds limit,
                 std::function<void(const std::optional<std::string>&)> done);

  // May be called on any thread.
  MediaSnapshot read() const;
  // May be called on any thread: see PlayerUsers.
  PlayerRights rightsOf(const std::string& owner) const;

 private:
  // The pending questions to one player, so that each is asked once at a time.
  struct Questions {
    bool isAll = false;
    bool isAllAgain = false;
    bool isPosition = false;
    bool isPositionAgain = false;
    std::optional<BusLoop::TimerId> later;  // asks for all properties
  };

  BusConnection& bus() { return loop_.sessionBus(); }
  // Finds the players, once the bus is usable.
  void onReady();
  // The bus is lost, for `reason`; the next onReady starts over.
  void onLost(const std::string& reason);
  void list();
  void takeNames(BodyReader& body);
  void findOwner(const std::string& name);
  void setOwner(std::string_view name, const std::string& owner);
  void onOwnerChanged(BodyReader& body);
  void forget(const std::string& owner);
  void onPropertiesChanged(const std::string& owner, BodyReader& body);
  void onSeeked(const std::string& owner, BodyReader& body);
  void askUser(const std::string& owner);
  void askAll(const std::string& owner);
  void onAll(const std::string& owner, Reply& reply, double askedMs);
  void askPosition(const std::string& owner);
  // Asks for the properties that a command has changed.
  void askEffect(const std::string& owner);

  // Reports that the players have changed, or that the initial questions are settled. Nothing is reported
  // before that.
  void notify();
  bool isQuiet() const;
  void settle();

  BusLoop& loop_;
  std::function<void()> onChange_;
  std::map<std::string, Questions> questions_;
  double connectedMs_ = 0;
  bool isListing_ = false;
  int findings_ = 0;
  std::optional<BusLoop::TimerId> settleTimer_;

  mutable std::mutex mutex_;
  PlayerTable table_;
  PlayerUsers users_;
  std::optional<std::string> absence_;
  bool isSettled_ = false;  // written on the bus thread only
};

}  // namespace hostwire
