// Standard output and error for a service: their reader may be slow, or gone.
#pragma once

#include <cstddef>
#include <string_view>

namespace hostwire {

// Writes the first bytes of `bytes` to the standard stream `stream` (1 or 2), as many as it takes at once,
// and returns their number: 0 while nothing fits. Throws HostError where nothing can be written (EPIPE: its
// reader has gone; EIO: its terminal was closed; ENOSPC). Windows waits for the reader of a pipe.
std::size_t writeAtOnce(int stream, std::string_view bytes);

// Ignores the signals with which somebody's mistake would change or stop a service: Node opens its inspector,
// a port that runs any code, on SIGUSR1; a terminal stops a background process that writes to it with
// SIGTTOU. Programs that the service launches are not affected. Windows has no such signals.
void ignoreStraySignals();

// Ends this process with SIGTERM when its parent ends. For a parent that does not pass signals on: the shell
// of `npm start`. Windows has no such thing.
void endWithParent();

// Puts /dev/null in the place of standard streams whose terminal was closed: at its end Node would restore
// the terminal's settings, fail, and abort (Node 20). Windows has no such thing.
void releaseClosedTerminal();

}  // namespace hostwire
