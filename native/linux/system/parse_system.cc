// Distribution and processor names.
#include "linux/system/parse_system.h"

#include <algorithm>
#include <array>
#include <utility>

#include "firmware/parse_brand.h"
#include "linux/kernel/scan.h"
#include "linux/system/arm_cores.h"

namespace hostwire {
namespace {

// Returns the value of an assignment: words in single quotes (nothing is special), in double quotes (a
// backslash escapes $ " \ and `), or bare (a backslash escapes anything), up to the first blank outside
// quotes.
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

// Returns "Cortex-A76 / Cortex-A55" if cores differ; empty when a part is unknown.
std::string namePartsOf(const Cpuinfo& info) {
  std::string names;
  std::string_view last;
  for (const std::uint64_t part : info.parts) {
    const std::string_view name = findArmCore(info.implementer, part);
    if (name.empty()) return {};
    if (name == std::exchange(last, name)) continue;
    if (!names.empty()) names += " / ";
    names += name;
  }
  return names;
}

ProcessorName nameArmProcessor(const Cpuinfo& info) {
  ProcessorName name;
  name.manufacturer = findArmImplementer(info.implementer);
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
  // First, because on 32-bit ARM the model name says nothing about the processor.
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
