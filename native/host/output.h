// Standard output and error of a service, whose reader may be slow or gone.
#pragma once

#include <cstddef>
#include <string_view>

namespace hostwire {

// Writes as many of the first bytes of `bytes` to the standard stream `stream` (1 or 2) as it takes without
// waiting, and returns their number: 0 while it is full. Throws HostError when writing is impossible (EPIPE:
// its reader has gone; EIO: its terminal was closed; ENOSPC). Windows waits for the reader of a pipe.
std::size_t writeAtOnce(int stream, std::string_view bytes);

// Ignores the signals by which a mistake of a user would change or stop a service: on SIGUSR1 Node opens its
// inspector, a port that runs any code; SIGTTOU stops a background process that writes to its terminal.
// Programs that the service launches are not affected. Windows has no such signals.
void ignoreStraySignals();

// Ends this process with SIGTERM when its parent ends. For a parent that does not forward signals: the shell
// of `npm start`. Does nothing on Windows.
void endWithParent();

// Replaces standard streams whose terminal was closed by /dev/null: at its end Node would restore the
// terminal's settings, fail, and abort (Node 20). Does nothing on Windows.
void releaseClosedTerminal();

}  // namespace hostwire
