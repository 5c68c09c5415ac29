// Commands are carried out over D-Bus.
#include "linux/command_thread.h"

namespace hostwire {

CommandThread::CommandThread() : state_(std::make_shared<State>()) {}
CommandThread::~CommandThread() { stop(); }

void CommandThread::stop() { state_->bus.stop(); }

}  // namespace hostwire
