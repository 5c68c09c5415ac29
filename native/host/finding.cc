// Rows, and the small grammar of their texts.
#include "host/finding.h"

#include <algorithm>
#include <utility>

namespace hostwire {
namespace {

constexpr std::size_t kMaxNamed = 5;

}  // namespace

Finding Finding::works(std::string subject, std::string source) {
  return {std::move(subject), Status::kWorks, std::move(source), {}};
}

Finding Finding::partly(std::string subject, std::string source, Obstacle obstacle) {
  return {std::move(subject), Status::kPartly, std::move(source), std::move(obstacle)};
}

Finding Finding::missing(std::string subject, std::string source, Obstacle obstacle) {
  return {std::move(subject), Status::kMissing, std::move(source), std::move(obstacle)};
}

Finding Finding::possible(std::string subject, std::optional<Obstacle> obstacle) {
  if (!obstacle) return works(std::move(subject), "possible");
  return missing(std::move(subject), "not possible", std::move(*obstacle));
}

std::string listOf(const std::vector<std::string>& names) {
  const std::size_t named = std::min(names.size(), kMaxNamed);
  std::string list;
  for (std::size_t at = 0; at < named; ++at) {
    if (at > 0) list += ", ";
    list += names[at];
  }
  if (names.size() > named) list += " and " + std::to_string(names.size() - named) + " more";
  return list;
}

std::string countOf(std::size_t count, std::string_view noun, std::string_view plural) {
  std::string text = std::to_string(count) + " ";
  if (count == 1 || plural.empty())
    text += noun;
  else
    text += plural;
  if (count != 1 && plural.empty()) text += 's';
  return text;
}

std::string joinTexts(const std::vector<std::string>& texts) {
  std::string joined;
  std::vector<std::string> seen;
  for (const std::string& text : texts) {
    if (text.empty() || std::find(seen.begin(), seen.end(), text) != seen.end()) continue;
    if (!joined.empty()) joined += "; ";
    joined += text;
    seen.push_back(text);
  }
  return joined;
}

}  // namespace hostwire
