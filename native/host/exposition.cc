// https://prometheus.io/docs/instrumenting/exposition_formats/
#include "host/exposition.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace hostwire {
namespace {

constexpr unsigned kMaxDigits = 18;

void appendEscaped(std::string& text, std::string_view value) {
  for (const char c : value) {
    if (c == '\\' || c == '"') text.push_back('\\');
    if (c == '\n')
      text.append("\\n");
    else
      text.push_back(c);
  }
}

std::string_view nameOf(MetricType type) {
  switch (type) {
    case MetricType::kCounter: return "counter";
    case MetricType::kGauge: return "gauge";
    case MetricType::kUntyped: break;
  }
  return "untyped";
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

MetricValue MetricValue::ofSigned(std::int64_t value, unsigned decimals) {
  const auto units = static_cast<std::uint64_t>(value);
  MetricValue made(value < 0 ? 0 - units : units, decimals);
  made.isNegative_ = value < 0;
  return made;
}

void MetricValue::appendTo(std::string& text) const {
  if (isNegative_) text.push_back('-');
  std::array<char, 24> digits{};
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), units_).ptr;
  const std::string_view number(digits.data(), static_cast<std::size_t>(end - digits.data()));
  if (decimals_ == 0) {
    text.append(number);
    return;
  }
  const std::size_t whole = number.size() > decimals_ ? number.size() - decimals_ : 0;
  text.append(whole == 0 ? "0" : number.substr(0, whole)).push_back('.');
  text.append(decimals_ - (number.size() - whole), '0').append(number.substr(whole));
}

std::optional<MetricValue> parseMetricValue(std::string_view text) {
  const std::size_t point = text.find('.');
  std::string digits(text.substr(0, point));
  const std::string_view decimals =
      point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
  digits.append(decimals);
  if (digits.empty() || digits.size() > kMaxDigits || !std::all_of(digits.begin(), digits.end(), isDigit))
    return std::nullopt;
  std::uint64_t units = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), units);
  return MetricValue(units, static_cast<unsigned>(decimals.size()));
}

void Exposition::family(std::string_view name, std::string_view help, MetricType type) {
  name_ = name;
  help_ = help;
  type_ = type;
  hasHeading_ = false;
  written_.clear();
}

// Help texts contain neither line breaks nor backslashes: they are constants, or made from a name of letters,
// digits and `_`.
void Exposition::writeHeading() {
  text_.append("# HELP ").append(name_).append(" ").append(help_);
  text_.append("\n# TYPE ").append(name_).append(" ").append(nameOf(type_)).append("\n");
  hasHeading_ = true;
}

void Exposition::add(const MetricValue& value, MetricLabels labels) {
  if (!hasHeading_) writeHeading();
  const std::size_t start = text_.size();
  text_.append(name_);
  char separator = '{';
  for (const MetricLabel& label : labels) {
    text_.push_back(separator);
    text_.append(label.name).append("=\"");
    appendEscaped(text_, label.value);
    text_.push_back('"');
    separator = ',';
  }
  if (labels.size() > 0) text_.push_back('}');
  if (!written_.insert(text_.substr(start + name_.size())).second) {
    text_.resize(start);
    return;
  }
  text_.push_back(' ');
  value.appendTo(text_);
  text_.push_back('\n');
}

void Exposition::single(std::string_view name, std::string_view help, MetricType type,
                        const MetricValue& value) {
  family(name, help, type);
  add(value);
}

}  // namespace hostwire
