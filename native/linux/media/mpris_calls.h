// Commands to players: one call each, and its answer.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "host/media.h"
#include "linux/bus/call.h"

namespace hostwire::mpris {

// Returns nothing for a seek when neither `trackId` (null: unknown) nor `position`, in seconds, is known.
std::optional<Call> callFor(const std::string& owner, MediaVerb verb, double value,
                            const std::string* trackId, std::optional<double> position);
MediaReply replyOf(const Reply& reply, std::chrono::milliseconds limit);

}  // namespace hostwire::mpris
