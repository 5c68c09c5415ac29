// Parsers of the routing tables, for the default route only.
#pragma once

#include <optional>
#include <string_view>

namespace hostwire {

// Returns the interface of the default route with the lowest metric: /proc/net/route and
// /proc/net/ipv6_route.
std::optional<std::string_view> parseDefaultRoute(std::string_view text);
std::optional<std::string_view> parseDefaultRouteIpv6(std::string_view text);

}  // namespace hostwire
