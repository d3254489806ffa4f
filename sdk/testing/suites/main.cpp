// davit-conformance [flags] plugin.so
//
// Runs the suites of every role that the plugin's note names. This process reads the note and never
// runs the plugin: each test is run by a child (tool/runner.hpp), which loads the plugin itself.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <random>
#include <string_view>

#include <unistd.h>

#include "subject.hpp"
#include "tool/arguments.hpp"
#include "tool/runner.hpp"

namespace davit::conformance {
namespace {

std::map<std::string, Program>& children() {
  static std::map<std::string, Program> map;
  return map;
}

int usage(const std::string& fault) {
  std::cerr << "davit-conformance: " << fault << "\n"
            << "usage: davit-conformance [flags] plugin.so; --help lists the flags\n";
  return 2;
}

// "change_sink/1" -> "ChangeSink"
std::string camel(std::string_view role) {
  role = role.substr(0, role.find('/'));
  std::string out;
  bool upper = true;
  for (const char c : role) {
    if (c == '_') {
      upper = true;
    } else {
      out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      upper = false;
    }
  }
  return out;
}

bool wanted(std::string_view suite, const std::vector<std::string>& roles) {
  if (suite.starts_with("Plugin")) return true;
  return std::any_of(roles.begin(), roles.end(),
                     [&](const std::string& role) { return suite.starts_with(camel(role)); });
}

std::vector<std::string> tests_of(const std::vector<std::string>& roles,
                                  const std::string& filter) {
  std::vector<std::string> out;
  const auto& unit = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < unit.total_test_suite_count(); ++i) {
    const auto& suite = *unit.GetTestSuite(i);
    if (!wanted(suite.name(), roles)) continue;
    for (int n = 0; n < suite.total_test_count(); ++n) {
      std::string name = suite.name() + std::string(".") + suite.GetTestInfo(n)->name();
      if (selects(filter, name)) out.push_back(std::move(name));
    }
  }
  return out;
}

uint64_t number_of(std::string_view text, uint64_t seed) {
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return seed;
}

// In the child, instead of GoogleTest's printer: prints what fails, and tells the parent how the
// test stands (verdict.hpp). In the tool itself (tell < 0) it only seeds.
class TestTeller : public ::testing::EmptyTestEventListener {
 public:
  TestTeller(uint64_t seed, int tell) : seed_(seed), tell_(tell) {}

  // The numbers depend on the test and the seed, and on no other test of the run.
  void OnTestStart(const ::testing::TestInfo& test) override {
    TestHost::seed_all(number_of(std::string(test.test_suite_name()) + "." + test.name(), seed_));
  }
  void OnTestPartResult(const ::testing::TestPartResult& part) override {
    if (tell_ < 0 || part.passed()) return;
    if (part.failed()) tell(told_failure);
    if (part.file_name() != nullptr) std::cout << part.file_name() << ":" << part.line_number();
    std::cout << ": " << (part.failed() ? "Failure" : "Skipped") << "\n"
              << part.message() << "\n"
              << std::flush;
  }
  void OnTestEnd(const ::testing::TestInfo& test) override {
    if (tell_ < 0) return;
    const auto& result = *test.result();
    tell(result.Skipped() ? told_skipped : result.Passed() ? told_passed : told_failed);
  }

 private:
  void tell(char what) const {
    if (write(tell_, &what, 1) != 1) std::exit(1);  // the tool has ended
  }
  const uint64_t seed_;
  const int tell_;
};

int run_in_child(const Given& given, const std::string& test, uint64_t seed, int tell) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what is written is read, however the process ends
  if (auto fault = load(given)) {
    std::cout << *fault << "\n";
    return 1;
  }
  GTEST_FLAG_SET(filter, test);
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new TestTeller(seed, tell));
  return RUN_ALL_TESTS();
}

// Loads the plugin in a child and returns what is wrong with it, or nothing.
std::optional<std::string> probe(const Given& given, std::chrono::seconds limit) {
  std::vector<std::unique_ptr<TestProcess>> one;
  one.push_back(std::make_unique<TestProcess>(
      [&given](int) {
        const auto fault = load(given);
        if (fault) std::cout << *fault << std::flush;
        return fault ? 1 : 0;
      },
      limit));
  TestProcess::wait(one);
  const Ended ended = one.front()->end();
  if (ended.why == Ended::Why::timeout)
    return given.path + ": loading it takes longer than --timeout";
  if (ended.why == Ended::Why::interrupt) return "interrupted";
  if (ended.status == 0) return std::nullopt;
  if (!ended.output.empty()) return ended.output;
  return given.path + ": while it was loaded, the process " + ending(ended.status);
}

std::chrono::seconds torture_seconds() {
  const char* seconds = std::getenv("DAVIT_TORTURE_SECONDS");
  return std::chrono::seconds(seconds == nullptr ? 0 : std::max(0, std::atoi(seconds)));
}

int run_in_process(const Given& given, const Arguments& arguments,
                   const std::vector<std::string>& tests, uint64_t seed) {
  if (auto fault = load(given)) return usage(*fault);
  std::string filter;
  for (const auto& test : tests) filter += (filter.empty() ? "" : ":") + test;
  GTEST_FLAG_SET(filter, filter);
  GTEST_FLAG_SET(repeat, static_cast<int32_t>(arguments.repeat));
  ::testing::UnitTest::GetInstance()->listeners().Append(new TestTeller(seed, -1));
  return RUN_ALL_TESTS();
}

int run_in_children(const Given& given, const Arguments& arguments,
                    const std::vector<std::string>& tests, uint64_t seed) {
  for (const char* name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"}) unsetenv(name);
  GTEST_FLAG_SET(output, "");
  const auto limit = arguments.timeout;
  if (auto fault = probe(given, limit)) return usage(*fault);
  int code = 0;
  for (unsigned i = 0; i < arguments.repeat && code < 128; ++i) {
    const Plan plan{tests, arguments.jobs, limit.count() == 0 ? limit : limit + torture_seconds(),
                    [&, i](const std::string& test, int tell) {
                      return run_in_child(given, test, seed + i, tell);
                    }};
    code = std::max(code, run_tests(plan, std::cout));
  }
  return code;
}

int run(const Arguments& arguments) {
  if (arguments.help) {
    std::cout << help_text();
    return 0;
  }
  auto given = read_given(arguments.plugin, arguments.config);
  if (!given.ok()) return usage(given.error().message);
  const uint64_t seed = arguments.seed ? *arguments.seed : std::random_device{}();
  if (!arguments.child.empty()) {
    const auto at = children().find(arguments.child);
    if (at == children().end()) return usage("unknown child " + arguments.child);
    TestHost::seed_all(seed);
    if (auto fault = load(*given)) return usage(*fault);
    return at->second(arguments.child_arguments);
  }
  const auto note = testing::read_note(arguments.plugin);
  if (!note.ok()) return usage(note.error().message);
  const auto tests = tests_of(note->roles, arguments.filter);
  if (tests.empty()) return usage("no test matches the filter " + arguments.filter);
  if (arguments.list) {
    for (const auto& test : tests) std::cout << test << "\n";
    return 0;
  }
  std::cout << "[  seed    ] " << seed << " (--seed " << seed << " repeats this run)\n";
  return arguments.in_process ? run_in_process(*given, arguments, tests, seed)
                              : run_in_children(*given, arguments, tests, seed);
}

}  // namespace

ChildProgram::ChildProgram(std::string name, Program main) {
  children().emplace(std::move(name), main);
}

}  // namespace davit::conformance

int main(int argc, char** argv) {
  using namespace davit::conformance;
  const auto arguments = parse_arguments({argv + 1, argv + argc});
  if (!arguments.ok()) return usage(arguments.error().message);
  std::vector<char*> words{argv[0]};
  for (const auto& flag : arguments->gtest) words.push_back(const_cast<char*>(flag.c_str()));
  int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  ::testing::InitGoogleTest(&count, words.data());
  if (count > 1) return usage("GoogleTest does not know the flag " + std::string(words[1]));
  return run(*arguments);
}
