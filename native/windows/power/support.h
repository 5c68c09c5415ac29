// Determines which power actions this machine supports, as reported by Windows.
#pragma once

#include <windows.h>

#include <array>
#include <cstddef>

#include "host/power.h"

namespace hostwire {

// SYSTEM_POWER_CAPABILITIES as winnt.h documents it, byte by byte: mingw-w64's lacks AoAc.
inline constexpr std::size_t kPowerCapabilityBytes = 76;
using PowerCapabilityBytes = std::array<unsigned char, kPowerCapabilityBytes>;

struct PowerCapabilities {
  bool hasSleep = false;  // S1, S2 or S3
  bool hasHibernation = false;
  bool hasHibernationFile = false;
  bool hasModernStandby = false;  // S0 low power idle
};

PowerCapabilities parsePowerCapabilities(const PowerCapabilityBytes& bytes);

// Facts that decide what is supported.
struct PowerFacts {
  PowerCapabilities capabilities;
  DWORD capabilitiesError = 0;  // an NTSTATUS: the capabilities are unknown
  DWORD privilegeError = 0;
  bool isSessionZero = false;
};

PowerSupport powerSupportOf(PowerAction action, const PowerFacts& facts);

}  // namespace hostwire
