// What a player's message says. Players are other programs: nothing in it is taken for granted.
#pragma once

#include <optional>

#include "linux/bus/body.h"
#include "linux/media/mpris_players.h"

namespace hostwire {

// The a{sv} of properties that comes next in `body`. What has another type than it should is left out, and
// what is out of all bounds.
PlayerNews readPlayerNews(BodyReader& body);

// A position in seconds: the variant that Get answers with, or the bare number of Seeked.
std::optional<double> readBoxedPosition(BodyReader& body);
std::optional<double> readPosition(BodyReader& body);

}  // namespace hostwire
