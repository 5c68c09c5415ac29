// The firmware's SMBIOS table (DMTF's DSP0134), wherever the platform keeps it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hostwire {

// Returns the number of installed memory modules: the type 17 structures with a size in an SMBIOS table
// (DSP0134, 7.18). Nothing if the table has no such structure.
std::optional<std::uint32_t> parseDmiMemoryModules(std::string_view table);

// Returns the table within the result of GetSystemFirmwareTable('RSMB'), where a header of 8 bytes with the
// table's length precedes it. Empty without a valid header.
std::string_view findSmbiosTable(std::string_view raw);

// Returns maker and product in one text, the maker once; nullopt where a maker left its placeholder.
std::optional<std::string> nameModel(std::string_view maker, std::string_view product);

}  // namespace hostwire
