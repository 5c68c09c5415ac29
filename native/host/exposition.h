// Metrics as text: the exposition format of Prometheus, version 0.0.4, written family by family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace hostwire {

enum class MetricType { kCounter, kGauge, kUntyped };

// A decimal number as text, exact: 12.50 is 1250 with 2 decimals.
class MetricValue {
 public:
  // `units` / 10^`decimals`.
  explicit MetricValue(std::uint64_t units, unsigned decimals = 0) : units_(units), decimals_(decimals) {}
  static MetricValue ofSigned(std::int64_t value, unsigned decimals = 0);
  static MetricValue ofFlag(bool isSet) { return MetricValue(isSet ? 1 : 0); }

  void appendTo(std::string& text) const;

 private:
  std::uint64_t units_;
  unsigned decimals_;
  bool isNegative_ = false;
};

// Parses digits with at most one point, which must fill `text`; otherwise returns nothing.
std::optional<MetricValue> parseMetricValue(std::string_view text);

struct MetricLabel {
  std::string_view name;
  std::string_view value;  // valid UTF-8
};
using MetricLabels = std::initializer_list<MetricLabel>;

class Exposition {
 public:
  // Begins a family. Its heading is written with its first sample, so a family without samples is absent. The
  // texts must remain valid until the next family.
  void family(std::string_view name, std::string_view help, MetricType type);
  // Adds a sample to the current family. A sample whose labels the family already has is left out: Prometheus
  // rejects such a scrape, or the sample.
  void add(const MetricValue& value, MetricLabels labels = {});
  // Writes a family of one sample.
  void single(std::string_view name, std::string_view help, MetricType type, const MetricValue& value);

  void reserve(std::size_t bytes) { text_.reserve(bytes); }
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  void writeHeading();

  std::string text_;
  std::string_view name_;
  std::string_view help_;
  MetricType type_ = MetricType::kUntyped;
  bool hasHeading_ = false;
  std::unordered_set<std::string> written_;  // the labels of the family's samples, as written
};

}  // namespace hostwire
