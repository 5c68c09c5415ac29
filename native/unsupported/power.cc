// Reports that no power manager is supported, which needs no thread.
#include "host/power.h"

#include <string>
#include <utility>

namespace hostwire {
namespace {

constexpr const char* kReason = "no power manager is known on this platform";

}  // namespace

struct CommandThread::State {};
CommandThread::CommandThread() : state_(std::make_shared<State>()) {}
CommandThread::~CommandThread() = default;
void CommandThread::stop() {}

struct PowerControl::State {};
PowerControl::PowerControl(const CommandThread&, PowerListener) {}
PowerControl::~PowerControl() = default;
void PowerControl::support(PowerAction, const std::function<void(const PowerSupport&)>& answer) {
  answer({false, kReason});
}
void PowerControl::inhibitors(const InhibitorsAnswer& answer) { answer({}, std::nullopt); }
void PowerControl::act(PowerAction, const std::function<void(const std::optional<std::string>&)>& answer) {
  answer(kReason);
}
void PowerControl::delaySleep(std::string,
                              const std::function<void(const std::optional<std::string>&)>& answer) {
  answer(kReason);
}
void PowerControl::allowSleep() {}
void PowerControl::describeManager(const std::function<void(const Finding&)>& answer) {
  answer(Finding::missing("power", "none", {kReason, ""}));
}

}  // namespace hostwire
