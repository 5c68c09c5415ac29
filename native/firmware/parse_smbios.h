// What the firmware's SMBIOS table tells (DMTF's DSP0134), wherever the platform keeps it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hostwire {

// How many memory modules are in place: the type 17 structures with a size in an SMBIOS table
// (DSP0134, 7.18). Nothing where the table has none of them.
std::optional<std::uint32_t> parseDmiMemoryModules(std::string_view table);

// The table in what GetSystemFirmwareTable('RSMB') gives: a header of 8 bytes with the table's length stands
// before it. Empty where that is not so.
std::string_view findSmbiosTable(std::string_view raw);

}  // namespace hostwire
