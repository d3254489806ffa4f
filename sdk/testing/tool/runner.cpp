#include "runner.hpp"

#include <set>

namespace davit::conformance {
namespace {

std::string counted(size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

size_t suites_of(const std::vector<std::string>& tests) {
  std::set<std::string> suites;
  for (const auto& test : tests) suites.insert(test.substr(0, test.find('.')));
  return suites.size();
}

class Run {
 public:
  Run(const Plan& plan, std::ostream& out) : plan_(plan), out_(out) {}

  int all() {
    out_ << "[==========] Running " << size() << ".\n" << std::flush;
    while (!stopped() && (next_ < plan_.tests.size() || !children_.empty())) {
      if (next_ < plan_.tests.size() && children_.size() < plan_.jobs) {
        begin(plan_.tests[next_++]);
      } else {
        const size_t at = TestProcess::wait(children_);
        finish(at);
      }
    }
    children_.clear();  // kills what still runs
    summary();
    if (const int signal = TestProcess::interrupted(); signal != 0) return 128 + signal;
    return failed_.empty() ? 0 : 1;
  }

 private:
  static bool stopped() { return TestProcess::interrupted() != 0; }
  std::string size() const {
    return counted(plan_.tests.size(), "test") + " from " +
           counted(suites_of(plan_.tests), "test suite");
  }
  bool one_by_one() const { return plan_.jobs == 1; }

  void begin(const std::string& test) {
    if (one_by_one()) out_ << "[ RUN      ] " << test << "\n" << std::flush;
    children_.push_back(std::make_unique<TestProcess>(
        [this, test](int tell) { return plan_.run(test, tell); }, plan_.limit));
    names_.push_back(test);
  }

  void finish(size_t at) {
    const std::string test = names_[at];
    const Ended ended = children_[at]->end();
    children_.erase(children_.begin() + static_cast<ptrdiff_t>(at));
    names_.erase(names_.begin() + static_cast<ptrdiff_t>(at));
    const Verdict verdict = verdict_of(ended, plan_.limit);
    if (!one_by_one()) out_ << "[ RUN      ] " << test << "\n";
    out_ << ended.output;
    if (!ended.output.empty() && ended.output.back() != '\n') out_ << "\n";
    if (!verdict.why.empty()) out_ << "davit-conformance: " << verdict.why << "\n";
    const char* result = "[       OK ] ";
    if (verdict.is == Verdict::Is::skipped) result = "[  SKIPPED ] ", skipped_.push_back(test);
    if (verdict.is == Verdict::Is::failed) result = "[  FAILED  ] ", failed_.push_back(test);
    out_ << result << test << " (" << ended.took.count() << " ms)\n" << std::flush;
    ++ran_;
  }

  void summary() const {
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(TestProcess::Clock::now() - begin_);
    out_ << "[==========] " << size() << " ran. (" << took.count() << " ms total)\n";
    if (ran_ < plan_.tests.size()) {
      out_ << "[==========] The run was interrupted: " << plan_.tests.size() - ran_
           << " tests have no result.\n";
    }
    out_ << "[  PASSED  ] " << counted(ran_ - skipped_.size() - failed_.size(), "test") << ".\n";
    list("[  SKIPPED ] ", skipped_);
    list("[  FAILED  ] ", failed_);
    if (failed_.empty()) return;
    out_ << "\n " << failed_.size() << " FAILED TEST" << (failed_.size() == 1 ? "" : "S") << "\n";
  }
  void list(const char* mark, const std::vector<std::string>& tests) const {
    if (tests.empty()) return;
    out_ << mark << counted(tests.size(), "test") << ", listed below:\n";
    for (const auto& test : tests) out_ << mark << test << "\n";
  }

  const Plan& plan_;
  std::ostream& out_;
  const TestProcess::Clock::time_point begin_ = TestProcess::Clock::now();
  size_t next_ = 0, ran_ = 0;
  std::vector<std::unique_ptr<TestProcess>> children_;
  std::vector<std::string> names_;  // of the children
  std::vector<std::string> skipped_, failed_;
};

}  // namespace

int run_tests(const Plan& plan, std::ostream& out) {
  return Run(plan, out).all();
}

}  // namespace davit::conformance
