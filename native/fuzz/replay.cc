// Replays saved inputs and deterministic mutations of them through every parser, under whatever sanitizers it
// was compiled with:  replay ROUNDS FOLDER…   (fixtures; and inputs that fuzzing found, under corpus/TARGET/)
// Then each saved input once more per allocation that it makes, with that allocation failing.
//   replay --list: every parser and the ending of its fixtures' names.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/failing_new.h"
#include "fuzz/targets.h"

namespace {

using hostwire::FuzzTarget;

std::string readFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Returns inputs for every parser, in addition to the fixtures.
std::vector<std::string> commonInputs() {
  return {"",
          "\n",
          ":",
          "a",
          " ",
          std::string(1, '\0'),
          "18446744073709551616",
          "-1",
          "nan",
          "1e999",
          std::string(70000, '9'),
          std::string(70000, '\n'),
          "\xff\xfe\xc0\xaf",
          "\xf0\x9f"};
}

std::string mutate(std::string input, std::mt19937& random) {
  const std::size_t edits = 1 + random() % 6;
  for (std::size_t i = 0; i < edits; ++i) {
    const std::size_t at = input.empty() ? 0 : random() % input.size();
    switch (random() % 6) {
      case 0: input.insert(at, 1, static_cast<char>(random() % 256)); break;
      case 1: input.erase(at, 1 + random() % 8); break;
      case 2: input.resize(at); break;
      case 3: input.insert(at, std::to_string(random())); break;
      case 4: input.insert(at, input.substr(0, random() % 64)); break;
      default:
        if (!input.empty()) input[at] = static_cast<char>(random() % 256);
    }
  }
  return input;
}

bool isSeed(const FuzzTarget& target, const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  if (folder.parent_path().filename() == "corpus") return folder.filename() == target.name;
  return !target.fixtureEnding.empty() && file.string().ends_with(target.fixtureEnding);
}

int list() {
  for (const FuzzTarget& target : hostwire::fuzzTargets())
    std::printf("%s\t%s\n", std::string(target.name).c_str(), std::string(target.fixtureEnding).c_str());
  return 0;
}

// Copies the input to exactly its size on the heap, so that a sanitizer detects the first byte read past it.
void runExactly(const FuzzTarget& target, const std::string& input) {
  const std::vector<char> exact(input.begin(), input.end());
  target.run({exact.data(), exact.size()});
}

std::size_t replay(const FuzzTarget& target, const std::vector<std::string>& seeds, std::size_t rounds) {
  std::mt19937 random(20261121);
  std::size_t runs = 0;
  for (const std::string& seed : seeds) {
    runExactly(target, seed);
    ++runs;
    for (std::size_t round = 0; round < rounds; ++round, ++runs) runExactly(target, mutate(seed, random));
    const std::size_t cuts = std::min<std::size_t>(seed.size(), 2000);
    for (std::size_t cut = 0; cut < cuts; ++cut, ++runs) runExactly(target, seed.substr(0, cut));
  }
  return runs;
}

// A parser may throw for lack of memory, but for no other reason; its allocations are freed.
std::size_t starve(const FuzzTarget& target, const std::vector<std::string>& seeds) {
  std::size_t failures = 0;
  for (const std::string& seed : seeds) {
    const std::vector<char> exact(seed.begin(), seed.end());
    // A text of a thousand lines fails in the same way at each of them: the steps between later allocations
    // grow.
    for (std::uint64_t nth = 1;; nth += 1 + nth / 64) {
      hostwire::failAllocation(nth);
      try {
        target.run({exact.data(), exact.size()});
      } catch (const std::bad_alloc&) {
        // as expected
      }
      if (!hostwire::stopFailing()) break;
      ++failures;
    }
  }
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: replay --list | ROUNDS FOLDER...\n");
    return 2;
  }
  if (argv[1] == std::string_view("--list")) return list();
  const std::size_t rounds = std::strtoul(argv[1], nullptr, 10);
  std::vector<std::filesystem::path> files;
  for (int i = 2; i < argc; ++i)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i]))
      if (entry.is_regular_file()) files.push_back(entry.path());

  std::size_t total = 0;
  std::size_t starved = 0;
  bool isEveryTargetSeeded = true;
  for (const FuzzTarget& target : hostwire::fuzzTargets()) {
    std::vector<std::string> seeds = commonInputs();
    const std::size_t common = seeds.size();
    for (const auto& file : files)
      if (isSeed(target, file)) seeds.push_back(readFile(file));
    if (seeds.size() == common && !target.fixtureEnding.empty()) {
      std::fprintf(stderr, "no fixture for %s\n", std::string(target.name).c_str());
      isEveryTargetSeeded = false;
    }
    total += replay(target, seeds, rounds);
    starved += starve(target, seeds);
  }
  std::printf("%zu inputs through %zu parsers; %zu allocations that failed\n", total,
              hostwire::fuzzTargets().size(), starved);
  return isEveryTargetSeeded ? 0 : 1;
}
