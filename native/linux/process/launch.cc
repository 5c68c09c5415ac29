// The one place where apps are started, and reaped when they end.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <string_view>

#include "host/error.h"
#include "host/process.h"
#include "host/thread.h"
#include "linux/process/spawn.h"

namespace hostwire {
namespace {

std::string_view nameOf(std::string_view variable) { return variable.substr(0, variable.find('=')); }

std::vector<char*> pointersTo(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Merges the service's own environment with `added`, which wins.
std::vector<std::string> mergeEnvironment(const std::vector<std::string>& added) {
  std::vector<std::string> merged = added;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view own = *at;
    const auto isSame = [&](const std::string& other) { return nameOf(other) == nameOf(own); };
    if (std::none_of(added.begin(), added.end(), isSame)) merged.emplace_back(own);
  }
  return merged;
}

// An ended process stays a zombie until its parent waits for it: a thread of its own does, which takes about
// 10 KB while the app runs. It exists before the app does, so that it cannot be missing later.
std::promise<pid_t> startReaper() {
  std::promise<pid_t> born;
  const bool isStarted = startThread([child = born.get_future().share()] {
    try {
      waitForChild(child.get());
    } catch (const std::future_error&) {
      // Nothing was started.
    }
  });
  if (!isStarted) throw HostError(EAGAIN, "start a thread");
  return born;
}

}  // namespace

std::int32_t launchProcess(const LaunchOptions& options) {
  std::vector<std::string> words = options.arguments;
  words.insert(words.begin(), options.program);
  std::vector<std::string> environment = mergeEnvironment(options.environment);
  const std::vector<char*> arguments = pointersTo(words);
  const std::vector<char*> variables = pointersTo(environment);
  std::promise<pid_t> born = startReaper();
  const pid_t pid = spawnProgram({options.program.c_str(), arguments.data(), variables.data(),
                                  options.folder ? options.folder->c_str() : nullptr});
  born.set_value(pid);
  return pid;
}

}  // namespace hostwire
