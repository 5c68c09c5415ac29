// Reads a player's message. Players are other programs: no part of it is trusted.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "linux/bus/body.h"
#include "linux/media/mpris_players.h"

namespace hostwire {

// Reads the a{sv} of properties that comes next in `body`. Values of a wrong type or out of range are left
// out.
PlayerNews readPlayerNews(BodyReader& body);

// Returns the address of the track's picture, from the variant in the answer to Get of Metadata; nothing if
// it has more than `maxBytes` bytes.
std::optional<std::string> readBoxedArtUrl(BodyReader& body, std::size_t maxBytes);

// Returns a position in seconds: the variant in the answer to Get, or the bare number in Seeked.
std::optional<double> readBoxedPosition(BodyReader& body);
std::optional<double> readPosition(BodyReader& body);

}  // namespace hostwire
