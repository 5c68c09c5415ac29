// Makes kernel text fit for JSON: names there are bytes, not characters.
#pragma once

#include <string>
#include <string_view>

namespace hostwire {

// Returns `bytes` as valid UTF-8. Invalid bytes become U+FFFD, one per maximal broken part, as in the WHATWG
// decoder (and thereby Node's Buffer).
std::string toValidUtf8(std::string_view bytes);

// The same, but each invalid byte becomes "\xNN": names that differ in such bytes only stay different, as
// labels of metrics must.
std::string toDistinctUtf8(std::string_view bytes);

}  // namespace hostwire
