// One lasting connection to a bus: calls with deadlines, subscriptions that outlive the bus, and reconnection
// after a loss. Everything here runs on the bus thread.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "linux/bus/address.h"
#include "linux/bus/call.h"
#include "linux/bus/user_rights.h"

namespace hostwire {

namespace sdbus {
struct Bus;
struct Error;
struct Functions;
struct Library;
struct Message;
struct Slot;
}  // namespace sdbus

class BusLoop;

class BusConnection {
 public:
  // Whether peers may send descriptors. Peers can fill the table of descriptors through a connection that
  // allows it, so one per bus is enough, and it is best closed while no answer is expected.
  enum class Descriptors { kRefused, kAllowed };

  BusConnection(BusLoop& loop, BusAddress address, Descriptors descriptors = Descriptors::kRefused);
  ~BusConnection();
  BusConnection(const BusConnection&) = delete;
  BusConnection& operator=(const BusConnection&) = delete;

  // Sends `call` once; nothing is sent again after a loss. `deadline` counts from now. Without a bus it fails
  // immediately; while a connection is being made it waits for that, at most a second. The handler is called
  // in a later turn, exactly once.
  void call(Call call, std::chrono::milliseconds deadline, ReplyHandler handler);

  // Closes the connection, in a later turn, if nothing is pending then; the next call opens it again. Not for
  // a connection with subscribers.
  void rest();

  // Subscribes to the signals that `rule` selects (sd_bus_add_match(3)), now and after each loss. Also opens
  // the connection and keeps it open.
  void addMatch(std::string rule, SignalHandler handler);

  // Reports when the bus becomes usable (immediately if it is) and when it no longer is, with the reason;
  // opens the connection and keeps it open. Matches are subscribed to before `onReady` can send anything.
  void watch(std::function<void()> onReady, std::function<void(const std::string& reason)> onLost);

  // For a bus whose address must be looked up: called each time the connection is to be opened and the
  // address is empty. It passes its result to relocate, then or later.
  void setLocator(std::function<void()> locate);
  // Sets the address of the bus; a connection to another address is closed.
  void relocate(BusAddress address);

  bool isReady() const { return state_ == State::kReady; }
  // Returns why the bus is missing; empty while it is connected, or not needed yet.
  const std::string& reason() const { return reason_; }
  const BusAddress& address() const { return address_; }
  // Returns the user that listens at the bus's socket; nothing without a connection, and for a bus over TCP.
  const std::optional<UserRights>& peer() const { return peer_; }

 private:
  friend class BusLoop;

  enum class State { kIdle, kConnecting, kReady, kDown, kClosed };
  struct Pending {
    BusConnection* owner;
    sdbus::Slot* slot;
    ReplyHandler handler;
    std::chrono::steady_clock::time_point dueAt;
  };
  struct Match {
    BusConnection* owner;
    sdbus::Slot* slot;
    std::string rule;
    SignalHandler handler;
  };
  struct Waiting {
    std::uint64_t id;
    Call call;
    std::chrono::steady_clock::time_point dueAt;
    ReplyHandler handler;
    std::uint64_t timer;
  };
  struct Watch {
    std::function<void()> onReady;
    std::function<void(const std::string&)> onLost;
  };

  // Called by the loop.
  void pump();
  std::optional<pollfd> pollEntry() const;
  // Returns when sd-bus must be called although nothing has arrived.
  std::optional<std::chrono::steady_clock::time_point> wakeAt() const;
  void close(const std::string& reason);

  void wantLasting();
  void open();
  bool canOpenNow() const;
  bool isWorthTrying() const;
  void becomeReady();
  void lose(std::string reason);
  void send(const Call& call, std::chrono::steady_clock::time_point dueAt, ReplyHandler handler);
  void waitForBus(Call call, std::chrono::steady_clock::time_point dueAt, ReplyHandler handler);
  void stopWaiting(std::uint64_t id, const std::string& reason);
  void failLater(ReplyHandler handler, CallEnd end, std::string reason);
  void subscribe(Match& match);
  void unsubscribe(Match& match);

  static int onReply(sdbus::Message* message, void* data, sdbus::Error* error);
  static int onSignal(sdbus::Message* message, void* data, sdbus::Error* error);
  static int onSubscribed(sdbus::Message* message, void* data, sdbus::Error* error);

  BusLoop& loop_;
  BusAddress address_;
  const Descriptors descriptors_;
  std::function<void()> locate_;
  const sdbus::Functions* functions_ = nullptr;
  sdbus::Bus* bus_ = nullptr;
  State state_ = State::kIdle;
  std::string reason_;
  std::optional<UserRights> peer_;
  bool isLasting_ = false;  // has subscribers: a lost bus is reconnected
  std::chrono::steady_clock::time_point openedAt_{};
  std::uint64_t connectTimer_ = 0;
  std::uint64_t retryTimer_ = 0;
  std::uint64_t lastId_ = 0;
  std::unordered_map<Pending*, std::unique_ptr<Pending>> pending_;
  std::vector<Waiting> waiting_;
  std::vector<std::unique_ptr<Match>> matches_;
  std::vector<Watch> watches_;
};

}  // namespace hostwire
