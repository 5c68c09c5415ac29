// Text from the kernel made fit for JSON: names there are bytes, not characters.
#pragma once

#include <string>
#include <string_view>

namespace hostwire {

// `bytes` as valid UTF-8. What is not becomes U+FFFD, one for each maximal broken part, as the WHATWG decoder
// (and with it Node's Buffer) does.
std::string toValidUtf8(std::string_view bytes);

}  // namespace hostwire
