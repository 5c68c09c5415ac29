// Texts below /proc/net with counters of a whole network namespace.
#include "linux/metrics/parse_sockets.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "linux/kernel/scan.h"
#include "linux/metrics/parse_counters.h"

namespace hostwire {
namespace {

// The ones that node_exporter shows by default, of several hundred.
constexpr std::array<std::string_view, 40> kShown{"Icmp6_InErrors",
                                                  "Icmp6_InMsgs",
                                                  "Icmp6_OutMsgs",
                                                  "Icmp_InErrors",
                                                  "Icmp_InMsgs",
                                                  "Icmp_OutMsgs",
                                                  "Ip6_InOctets",
                                                  "Ip6_OutOctets",
                                                  "IpExt_InOctets",
                                                  "IpExt_OutOctets",
                                                  "Ip_Forwarding",
                                                  "TcpExt_ListenDrops",
                                                  "TcpExt_ListenOverflows",
                                                  "TcpExt_SyncookiesFailed",
                                                  "TcpExt_SyncookiesRecv",
                                                  "TcpExt_SyncookiesSent",
                                                  "TcpExt_TCPSynRetrans",
                                                  "TcpExt_TCPTimeouts",
                                                  "Tcp_ActiveOpens",
                                                  "Tcp_CurrEstab",
                                                  "Tcp_InErrs",
                                                  "Tcp_InSegs",
                                                  "Tcp_OutRsts",
                                                  "Tcp_OutSegs",
                                                  "Tcp_PassiveOpens",
                                                  "Tcp_RetransSegs",
                                                  "Udp6_InDatagrams",
                                                  "Udp6_InErrors",
                                                  "Udp6_NoPorts",
                                                  "Udp6_OutDatagrams",
                                                  "Udp6_RcvbufErrors",
                                                  "Udp6_SndbufErrors",
                                                  "UdpLite6_InErrors",
                                                  "UdpLite_InErrors",
                                                  "Udp_InDatagrams",
                                                  "Udp_InErrors",
                                                  "Udp_NoPorts",
                                                  "Udp_OutDatagrams",
                                                  "Udp_RcvbufErrors",
                                                  "Udp_SndbufErrors"};

bool isShown(std::string_view name) { return std::find(kShown.begin(), kShown.end(), name) != kShown.end(); }

void writeStatistic(std::string_view protocol, std::string_view field, std::uint64_t value, Exposition& out) {
  const std::string name = std::string(protocol).append("_").append(field);
  if (!isShown(name)) return;
  const std::string help = std::string("Statistic ").append(protocol).append(field).append(".");
  out.single("node_netstat_" + name, help, MetricType::kUntyped, MetricValue(value));
}

bool isName(std::string_view text) {
  const auto isLetter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  return !text.empty() && isLetter(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
    return isLetter(c) || c == '_' || (c >= '0' && c <= '9');
  });
}

void writeSocketCount(std::string_view protocol, std::string_view state, std::uint64_t value,
                      Exposition& out) {
  std::string help = std::string("Number of ").append(protocol).append(" sockets in state ");
  help.append(state).append(".");
  if (protocol == "sockets" && state == "used") help = "Number of IPv4 sockets in use.";
  const std::string name = std::string("node_sockstat_").append(protocol).append("_").append(state);
  out.single(name, help, MetricType::kGauge, MetricValue(value));
}

struct PacketQueue {
  std::string processor;
  std::array<std::uint64_t, 3> values;
};

struct QueueColumn {
  const char* name;
  const char* help;
};
constexpr std::array kQueueColumns{
    QueueColumn{"node_softnet_processed_total", "Number of processed packets"},
    QueueColumn{"node_softnet_dropped_total", "Number of dropped packets"},
    QueueColumn{"node_softnet_times_squeezed_total", "Number of times processing packets ran out of quota"}};

}  // namespace

void writeSockets(std::string_view text, std::uint64_t pageBytes, Exposition& out) {
  std::string_view line;
  while (takeLine(text, line)) {
    std::string_view protocol = takeWord(line);
    if (!protocol.ends_with(':')) continue;
    protocol.remove_suffix(1);
    if (!isName(protocol)) continue;
    for (std::string_view state = takeWord(line); isName(state); state = takeWord(line)) {
      const auto value = takeUnsigned(line);
      if (!value) break;
      writeSocketCount(protocol, state, *value, out);
      if (state == "mem" && *value <= UINT64_MAX / pageBytes)
        writeSocketCount(protocol, "mem_bytes", *value * pageBytes, out);
    }
  }
}

void writeProtocols(std::string_view text, Exposition& out) {
  std::string_view names, values;
  while (takeLine(text, names) && takeLine(text, values)) {
    std::string_view protocol = takeWord(names);
    if (protocol != takeWord(values) || !protocol.ends_with(':')) continue;
    protocol.remove_suffix(1);
    for (std::string_view name = takeWord(names); !name.empty(); name = takeWord(names)) {
      std::string_view word = takeWord(values);
      // Some are negative, and none of those is shown.
      if (const auto value = takeUnsigned(word)) writeStatistic(protocol, name, *value, out);
    }
  }
}

void writeProtocols6(std::string_view text, Exposition& out) {
  std::string_view line;
  while (takeLine(text, line)) {
    const std::string_view name = takeWord(line);
    const std::size_t six = name.find('6');
    const auto value = takeUnsigned(line);
    if (six == std::string_view::npos || !value) continue;
    writeStatistic(name.substr(0, six + 1), name.substr(six + 1), *value, out);
  }
}

// Since Linux 5.10 the 13th number is the processor's; before, the lines are those of the online processors.
void writePacketQueues(std::string_view text, Exposition& out) {
  constexpr std::size_t kProcessorColumn = 12;
  std::vector<PacketQueue> queues;
  std::string_view line;
  while (queues.size() < kMaxProcessors && takeLine(text, line)) {
    std::vector<std::uint64_t> values;
    for (std::string_view word = takeWord(line); !word.empty(); word = takeWord(line))
      values.push_back(parseHex(word).value_or(0));
    if (values.size() < 3) continue;
    const std::uint64_t processor =
        values.size() > kProcessorColumn ? values[kProcessorColumn] : std::uint64_t{queues.size()};
    queues.push_back({std::to_string(processor), {values[0], values[1], values[2]}});
  }
  for (std::size_t at = 0; at < kQueueColumns.size(); ++at) {
    out.family(kQueueColumns.at(at).name, kQueueColumns.at(at).help, MetricType::kCounter);
    for (const PacketQueue& queue : queues)
      out.add(MetricValue(queue.values.at(at)), {{"cpu", queue.processor}});
  }
}

}  // namespace hostwire
