// Where Windows' services live: a session without a desktop, and without players.
#pragma once

namespace hostwire {

bool isInSessionZero();

}  // namespace hostwire
