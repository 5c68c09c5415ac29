// Determines which power actions this machine supports.
#include "windows/power/support.h"

#include "windows/win32/error_text.h"

namespace hostwire {
namespace {

// Offsets in SYSTEM_POWER_CAPABILITIES.
constexpr std::size_t kS1 = 3;
constexpr std::size_t kS2 = 4;
constexpr std::size_t kS3 = 5;
constexpr std::size_t kS4 = 6;
constexpr std::size_t kHiberFilePresent = 8;
constexpr std::size_t kAoAc = 20;

PowerSupport refuse(std::string reason) { return {false, std::move(reason)}; }

PowerSupport sleepSupport(const PowerCapabilities& can) {
  if (can.hasSleep) return {true, ""};
  if (can.hasModernStandby)
    return refuse("this machine has Modern Standby instead of sleep, and programs cannot start it");
  return refuse("this machine has no sleep state");
}

PowerSupport hibernationSupport(const PowerCapabilities& can) {
  if (!can.hasHibernation) return refuse("this machine cannot hibernate");
  if (!can.hasHibernationFile)
    return refuse("hibernation is disabled on this machine: there is no hibernation file");
  return {true, ""};
}

}  // namespace

PowerCapabilities parsePowerCapabilities(const PowerCapabilityBytes& bytes) {
  return {bytes[kS1] != 0 || bytes[kS2] != 0 || bytes[kS3] != 0, bytes[kS4] != 0,
          bytes[kHiberFilePresent] != 0, bytes[kAoAc] != 0};
}

PowerSupport powerSupportOf(PowerAction action, const PowerFacts& facts) {
  if (action == PowerAction::kLock) {
    if (facts.isSessionZero)
      return refuse("the service runs in session 0, which has no desktop to lock: run it as the user");
    return {true, ""};
  }
  if (facts.privilegeError == ERROR_NOT_ALL_ASSIGNED)
    return refuse("this user does not have the right to shut the machine down (SeShutdownPrivilege)");
  if (facts.privilegeError != 0)
    return refuse("the right to shut the machine down cannot be enabled: " +
                  windowsErrorText(facts.privilegeError));
  if (action == PowerAction::kShutdown || action == PowerAction::kRestart) return {true, ""};
  if (facts.capabilitiesError != 0)
    return refuse("Windows does not report what this machine can do: " +
                  windowsErrorText(facts.capabilitiesError));
  return action == PowerAction::kSleep ? sleepSupport(facts.capabilities)
                                       : hibernationSupport(facts.capabilities);
}

}  // namespace hostwire
