// Generic netlink without a library, with the two questions that Wi-Fi needs.
#include "linux/network/netlink/generic.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>

#include <cerrno>

#include "host/error.h"
#include "linux/network/netlink/parse_nl80211.h"

namespace hostwire {
namespace {

std::string contentOf(const GenericNetlink::Request& request) {
  genlmsghdr header{};
  header.cmd = request.command;
  header.version = 1;
  std::string content(bytesOf(header));
  for (const GenericNetlink::Attribute& attribute : request.attributes) {
    const nlattr head{static_cast<std::uint16_t>(NLA_HDRLEN + attribute.value.size()), attribute.type};
    content.append(bytesOf(head)).append(attribute.value);
    content.resize((content.size() + 3U) & ~std::size_t{3});
  }
  return content;
}

}  // namespace

GenericNetlink::GenericNetlink() : netlink_(NETLINK_GENERIC) {}

std::vector<std::string> GenericNetlink::ask(const Request& request) {
  std::vector<std::string> answers;
  netlink_.ask({request.family, request.isDump, contentOf(request)}, [&](std::string_view payload) {
    if (payload.size() >= GENL_HDRLEN) answers.emplace_back(payload.substr(GENL_HDRLEN));
  });
  return answers;
}

std::optional<std::uint16_t> GenericNetlink::findFamily(std::string_view name) {
  std::string terminated(name);
  terminated += '\0';
  try {
    for (const std::string& answer :
         ask({GENL_ID_CTRL, CTRL_CMD_GETFAMILY, false, {{CTRL_ATTR_FAMILY_NAME, terminated}}}))
      if (const auto id = parseFamilyId(answer)) return id;
  } catch (const HostError& error) {
    if (error.code().value() != ENOENT) throw;
  }
  return std::nullopt;
}

// A client receives its access point and, with TDLS, its neighbours after it. A driver that fails costs no
// other interface its value.
std::optional<double> WifiSignals::readOne(std::uint32_t index) {
  try {
    for (const std::string& station :
         netlink_.ask({*family_, NL80211_CMD_GET_STATION, true, {{NL80211_ATTR_IFINDEX, bytesOf(index)}}}))
      if (const auto signal = parseStationSignal(station)) return signal;
  } catch (const HostError&) {
    return std::nullopt;
  }
  return std::nullopt;
}

std::map<std::uint32_t, double> WifiSignals::read() {
  if (!family_) family_ = netlink_.findFamily(NL80211_GENL_NAME);
  std::map<std::uint32_t, double> signals;
  if (!family_) return signals;
  try {
    for (const std::string& answer : netlink_.ask({*family_, NL80211_CMD_GET_INTERFACE, true, {}})) {
      const auto wifi = parseWifiInterface(answer);
      if (!wifi || !wifi->isClient) continue;
      if (const auto signal = readOne(wifi->index)) signals.emplace(wifi->index, *signal);
    }
  } catch (...) {
    family_.reset();  // the module may have been loaded again, with another number
    throw;
  }
  return signals;
}

}  // namespace hostwire
