// Rows that a reader returns about itself: what it reads and from where, what is missing, why, and the
// remedy. `hostwire doctor` prints them; each is written beside the code that reads.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hostwire {

// Why something does not work, and its remedy.
struct Obstacle {
  std::string reason;  // a clause without a full stop; empty: no obstacle
  std::string remedy;  // a module, a package, a setting; empty where none is known
};

// One row. No two rows of one machine have the same subject.
struct Finding {
  enum class Status { kWorks, kPartly, kMissing };

  std::string subject;  // one word in lower case: "cpu", "process-control"
  Status status = Status::kWorks;
  std::string source;      // what was found, and where
  Obstacle obstacle;       // empty where it works
  bool isPending = false;  // something has not answered yet, and may answer within seconds

  static Finding works(std::string subject, std::string source);
  static Finding partly(std::string subject, std::string source, Obstacle obstacle);
  static Finding missing(std::string subject, std::string source, Obstacle obstacle);
  // For something that can or cannot be done, rather than read.
  static Finding possible(std::string subject, std::optional<Obstacle> obstacle);
};

using Findings = std::vector<Finding>;

// Returns the rows of `describe`; if it throws, one row with the reason. `source`: what it reads.
template <class Describe>
Findings describeOrExplain(const std::string& subject, const std::string& source, const Describe& describe) {
  try {
    return describe();
  } catch (const std::exception& error) {
    return {Finding::missing(subject, source, {error.what(), ""})};
  }
}

// Returns "a, b, c, d, e and 4 more".
std::string listOf(const std::vector<std::string>& names);
// Returns "1 chip", "2 chips", "3 processes".
std::string countOf(std::size_t count, std::string_view noun, std::string_view plural = "");
// Joins the texts that are not empty, each once, with "; ".
std::string joinTexts(const std::vector<std::string>& texts);

}  // namespace hostwire
