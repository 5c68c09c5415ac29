// The session of Windows' services: it has neither a desktop nor players.
#pragma once

namespace hostwire {

bool isInSessionZero();

}  // namespace hostwire
