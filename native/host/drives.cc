// The drives of every platform: when they are asked, and which part of an older answer is still valid.
#include "host/drives.h"

#include <chrono>
#include <utility>

#include "host/drive_probe.h"
#include "host/probed_list.h"
#include "host/prober.h"

namespace hostwire {
namespace {

using Drives = ProbedList<FoundDrive, DriveAnswer>;

// Asks one drive. While it is asleep, its last values are kept, except the temperature.
class DriveQuestion {
 public:
  explicit DriveQuestion(const FoundDrive& drive) : ask_(makeDriveQuestion(drive)) {}

  DriveAnswer ask() {
    DriveAnswer answer = ask_();
    if (answer.isAsleep && last_.health) {
      last_.health->temperatureCelsius.reset();
      return last_;
    }
    last_ = answer;
    return answer;
  }

 private:
  const std::function<DriveAnswer()> ask_;
  DriveAnswer last_;
};

Drives::Question makeQuestion(const FoundDrive& drive) {
  if (!drive.whyNot.empty()) return [failure = drive.whyNot] { return DriveAnswer{{}, failure}; };
  return [question = std::make_shared<DriveQuestion>(drive)] { return question->ask(); };
}

DriveCounters countersOf(const FoundDrive& drive, Answer<DriveAnswer> answer,
                         std::chrono::milliseconds maxAge) {
  DriveCounters counters{drive.name, drive.model, drive.kind, {}, drive.whyNot};
  if (!counters.failure.empty()) return counters;
  const bool isOld = answer.age > maxAge;
  if (!answer.value || (isOld && answer.isStale)) {
    counters.failure = answer.error.empty() ? "no answer" : std::move(answer.error);
    return counters;
  }
  counters.health = answer.value->health;
  counters.failure = std::move(answer.value->failure);
  if (counters.health && isOld) counters.health->temperatureCelsius.reset();
  return counters;
}

}  // namespace

struct DrivesReader::State {
  State(const Roots& roots, ProberPool& probers, const DriveAges& ages)
      : drives(
            probers, {ages.list, ages.health}, [roots] { return findDrives(roots); }, makeQuestion),
        maxAge(ages.max) {}
  Drives drives;
  const std::chrono::milliseconds maxAge;
};

DrivesReader::DrivesReader(const Roots& roots, ProberPool& probers, const DriveAges& ages)
    : state_(std::make_unique<State>(roots, probers, ages)) {}
DrivesReader::~DrivesReader() = default;

std::vector<DriveCounters> DrivesReader::read() {
  std::vector<DriveCounters> drives;
  for (Drives::Item& item : state_->drives.read())
    drives.push_back(countersOf(*item.device, std::move(item.answer), state_->maxAge));
  return drives;
}

Findings DrivesReader::describe() {
  const std::string subject = "drive-health";
  return describeOrExplain(subject, "the drives of this machine", [&]() -> Findings {
    std::vector<std::string> known;
    std::vector<std::string> reasons;
    bool isAnyFailing = false;
    for (const DriveCounters& drive : read()) {
      if (!drive.health) {
        reasons.push_back(drive.name + ": " + drive.failure);
        continue;
      }
      known.push_back(drive.name);
      if (drive.health->isPassing != false) continue;
      isAnyFailing = true;
      reasons.push_back(drive.name + ": it predicts its own failure");
    }
    const std::string source =
        known.empty() ? "no drive" : listOf(known) + " from the drive's own health log (SMART)";
    if (reasons.empty()) return {Finding::works(subject, source)};
    const Obstacle obstacle{
        listOf(reasons), isAnyFailing ? "back up and replace the drive that predicts its own failure" : ""};
    return {known.empty() ? Finding::missing(subject, source, obstacle)
                          : Finding::partly(subject, source, obstacle)};
  });
}

}  // namespace hostwire
