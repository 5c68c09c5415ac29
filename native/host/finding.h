// What a reader reports about itself: what it reads and from where, what is missing, why, and what it would
// take. `hostwire doctor` prints these rows; each is written beside the code that reads.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hostwire {

// Why something does not work, and what would make it work.
struct Obstacle {
  std::string reason;  // a clause without a full stop; empty: nothing stands in the way
  std::string remedy;  // a module, a package, a setting; empty where none is known
};

// One row. No two rows of one machine have the same subject.
struct Finding {
  enum class Status { kWorks, kPartly, kMissing };

  std::string subject;  // one word in lower case: "cpu", "process-control"
  Status status = Status::kWorks;
  std::string source;      // what was found, and where
  Obstacle obstacle;       // empty where it works
  bool isPending = false;  // something has not answered yet, and may within seconds

  static Finding works(std::string subject, std::string source);
  static Finding partly(std::string subject, std::string source, Obstacle obstacle);
  static Finding missing(std::string subject, std::string source, Obstacle obstacle);
  // Of something that can be done or cannot, rather than read.
  static Finding possible(std::string subject, std::optional<Obstacle> obstacle);
};

using Findings = std::vector<Finding>;

// What `describe` returns; one row that says why, where it throws. `source`: what it reads.
template <class Describe>
Findings describeOrExplain(const std::string& subject, const std::string& source, const Describe& describe) {
  try {
    return describe();
  } catch (const std::exception& error) {
    return {Finding::missing(subject, source, {error.what(), ""})};
  }
}

// "a, b, c, d, e and 4 more".
std::string listOf(const std::vector<std::string>& names);
// "1 chip", "2 chips", "3 processes".
std::string countOf(std::size_t count, std::string_view noun, std::string_view plural = "");
// The texts that say something, each once, with "; " between them.
std::string joinTexts(const std::vector<std::string>& texts);

}  // namespace hostwire
