// Network interfaces: what they are and their counters since they appeared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/finding.h"
#include "host/roots.h"

namespace hostwire {

class ProberPool;

enum class InterfaceKind { kEthernet, kWifi, kBond, kBridge, kVlan, kTunnel, kLoopback, kOther };

struct InterfaceCounters {
  std::string name;
  std::uint32_t index = 0;  // the system's number: a recreated interface has a new one; 0: unknown
  InterfaceKind kind = InterfaceKind::kOther;
  // Hardware (or paravirtual hardware) of its own, whose bytes no other interface counts.
  bool hasDevice = false;
  std::uint32_t masterIndex = 0;  // the bond, bridge or other interface of which it is a member; 0: none
  std::uint32_t lowerIndex = 0;   // the interface below it, as of a VLAN; 0: none in this list
  // Related to an interface that is not below it: the other end of a veth pair, mostly in another namespace.
  bool hasPeer = false;
  bool isLine = false;  // such as a modem's PPP: no device, and perhaps a way of its own; not for JavaScript
  std::uint64_t receivedBytes = 0;
  std::uint64_t receivedPackets = 0;
  std::uint64_t receiveErrors = 0;
  std::uint64_t receiveDrops = 0;
  std::uint64_t sentBytes = 0;
  std::uint64_t sentPackets = 0;
  std::uint64_t sendErrors = 0;
  std::uint64_t sendDrops = 0;
  // With detail only:
  std::optional<bool> isUp;
  std::optional<double> speedMbps;
  std::optional<std::string> mac;
  std::vector<std::string> addresses;  // "192.0.2.7", "2001:db8::7"; no prefix length, no zone
  std::optional<double> signalDbm;
};

struct NetworkReading {
  std::int64_t takenAtNs =
      0;  // on the clock of ClockReading::monotonicNs: a prober may have taken it earlier
  std::vector<InterfaceCounters> links;
};

class NetworkReader {
 public:
  NetworkReader(const Roots& roots, ProberPool& probers);
  ~NetworkReader();
  // Valid until the next call. Returns the previous reading, with its time, while there is no newer one.
  const NetworkReading& read(bool withDetail);
  Findings describe();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
