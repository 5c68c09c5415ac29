// Distribution and processor names.
#include "linux/system/parse_system.h"

#include <algorithm>
#include <array>
#include <utility>

#include "firmware/parse_brand.h"
#include "linux/kernel/scan.h"

namespace hostwire {
namespace {

// The value of an assignment: words in single quotes (nothing is special), in double quotes (a backslash
// escapes $ " \ and `), or bare (a backslash escapes anything), up to the first blank outside quotes.
std::string unquote(std::string_view text) {
  std::string value;
  char quote = '\0';
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (quote == '\0' && isBlank(c)) break;
    if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote != '\0' && c == quote) {
      quote = '\0';
    } else if (c == '\\' && quote != '\'' && next != '\0' &&
               (quote == '\0' || std::string_view("$\"\\`").find(next) != std::string_view::npos)) {
      value.push_back(next);
      ++at;
    } else {
      value.push_back(c);
    }
  }
  return value;
}

struct Named {
  std::uint64_t code;
  std::string_view name;
};

template <std::size_t N>
std::string_view findName(const std::array<Named, N>& table, std::optional<std::uint64_t> code) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Named& row) { return row.code == code; });
  return found == table.end() ? std::string_view{} : found->name;
}

// MIDR_EL1.Implementer and .PartNum, as arch/arm64/include/asm/cputype.h lists them.
constexpr std::array<Named, 14> kImplementers{{{0x41, "ARM"},
                                               {0x42, "Broadcom"},
                                               {0x43, "Cavium"},
                                               {0x44, "DEC"},
                                               {0x46, "Fujitsu"},
                                               {0x48, "HiSilicon"},
                                               {0x4e, "NVIDIA"},
                                               {0x50, "Applied Micro"},
                                               {0x51, "Qualcomm"},
                                               {0x53, "Samsung"},
                                               {0x56, "Marvell"},
                                               {0x61, "Apple"},
                                               {0x69, "Intel"},
                                               {0xc0, "Ampere"}}};
constexpr std::array<Named, 27> kArmParts{
    {{0xb76, "ARM1176"},     {0xc07, "Cortex-A7"},    {0xc08, "Cortex-A8"},   {0xc09, "Cortex-A9"},
     {0xc0f, "Cortex-A15"},  {0xd03, "Cortex-A53"},   {0xd04, "Cortex-A35"},  {0xd05, "Cortex-A55"},
     {0xd07, "Cortex-A57"},  {0xd08, "Cortex-A72"},   {0xd09, "Cortex-A73"},  {0xd0a, "Cortex-A75"},
     {0xd0b, "Cortex-A76"},  {0xd0c, "Neoverse-N1"},  {0xd0d, "Cortex-A77"},  {0xd40, "Neoverse-V1"},
     {0xd41, "Cortex-A78"},  {0xd42, "Cortex-A78AE"}, {0xd44, "Cortex-X1"},   {0xd46, "Cortex-A510"},
     {0xd47, "Cortex-A710"}, {0xd48, "Cortex-X2"},    {0xd49, "Neoverse-N2"}, {0xd4d, "Cortex-A715"},
     {0xd4e, "Cortex-X3"},   {0xd4f, "Neoverse-V2"},  {0xd80, "Cortex-A520"}}};
// Two kinds of core each; both identify the chip.
constexpr std::array<Named, 12> kAppleParts{{{0x022, "M1"},
                                             {0x023, "M1"},
                                             {0x024, "M1 Pro"},
                                             {0x025, "M1 Pro"},
                                             {0x028, "M1 Max"},
                                             {0x029, "M1 Max"},
                                             {0x032, "M2"},
                                             {0x033, "M2"},
                                             {0x034, "M2 Pro"},
                                             {0x035, "M2 Pro"},
                                             {0x038, "M2 Max"},
                                             {0x039, "M2 Max"}}};

// "Cortex-A76 / Cortex-A55" where cores differ; empty when a part is unknown.
std::string namePartsOf(const Cpuinfo& info) {
  std::string names;
  std::string_view last;
  for (const std::uint64_t part : info.parts) {
    std::string_view name;
    if (info.implementer == 0x41) name = findName(kArmParts, part);
    if (info.implementer == 0x61) name = findName(kAppleParts, part);
    if (name.empty()) return {};
    if (name == std::exchange(last, name)) continue;
    if (!names.empty()) names += " / ";
    names += name;
  }
  return names;
}

ProcessorName nameArmProcessor(const Cpuinfo& info) {
  ProcessorName name;
  name.manufacturer = findName(kImplementers, info.implementer);
  name.brand = namePartsOf(info);
  if (name.brand.empty()) name.brand = info.hardware;
  if (name.brand.empty()) name.brand = info.board;
  if (name.brand.empty()) name.brand = info.modelName;
  return name;
}

}  // namespace

OsReleaseFields parseOsReleaseFields(std::string_view text) {
  OsReleaseFields fields;
  std::string_view line;
  while (takeLine(text, line)) {
    skipBlanks(line);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || line.starts_with('#')) continue;
    fields.insert_or_assign(std::string(line.substr(0, equals)), unquote(line.substr(equals + 1)));
  }
  return fields;
}

OsRelease parseOsRelease(std::string_view text) {
  const OsReleaseFields fields = parseOsReleaseFields(text);
  const auto firstOf = [&](std::initializer_list<const char*> keys) -> std::string {
    for (const char* key : keys)
      if (const auto found = fields.find(key); found != fields.end() && !found->second.empty())
        return found->second;
    return {};
  };
  std::string name = firstOf({"NAME"});
  if (name.empty()) name = "Linux";
  return {std::move(name), firstOf({"VERSION", "VERSION_ID", "BUILD_ID"})};
}

ProcessorName nameProcessor(const Cpuinfo& info) {
  // First, because 32-bit ARM has a model name without information.
  if (info.implementer) return nameArmProcessor(info);
  ProcessorName name;
  name.manufacturer = manufacturerOf(info.vendorId);
  name.brand = cleanBrand(info.modelName);
  for (const std::string* other : {&info.microarchitecture, &info.processorName, &info.hardware, &info.board})
    if (name.brand.empty()) name.brand = *other;
  return name;
}

std::string nodeArchOf(std::string_view machine) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNames{{{"x86_64", "x64"},
                                                                                 {"aarch64", "arm64"},
                                                                                 {"aarch64_be", "arm64"},
                                                                                 {"ppc64le", "ppc64"},
                                                                                 {"loongarch64", "loong64"},
                                                                                 {"mips64", "mips64el"},
                                                                                 {"mips", "mipsel"}}};
  for (const auto& [uname, node] : kNames)
    if (machine == uname) return std::string(node);
  if (machine.size() == 4 && machine.front() == 'i' && machine.ends_with("86")) return "ia32";
  if (machine.starts_with("arm")) return "arm";
  return std::string(machine);
}

}  // namespace hostwire
