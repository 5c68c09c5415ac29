// Bytes of the system (names of files, mounts, labels) made valid UTF-8 for what is shown.
#pragma once

#include <string>
#include <string_view>

namespace hostwire {

// Each byte that is not part of a valid sequence (RFC 3629: no surrogates, no overlong forms) becomes U+FFFD.
std::string toValidUtf8(std::string_view bytes);

}  // namespace hostwire
