// A plugin that ends the process, or throws where nobody can catch it, is named.
#include <algorithm>
#include <csignal>

#include "program.hpp"

namespace davit::test {
namespace {

#ifdef DAVIT_SANITIZED
constexpr bool own_code = false;  // a sanitizer ends the process with a code of its own
#else
constexpr bool own_code = true;
#endif

struct DeathRow {
  const char* name;
  const char* breaks_in;
  const char* how;
  const char* calls;  // what the instance c calls of the instance b; "": there is no c
  int code;
  const char* line;
};

void PrintTo(const DeathRow& row, std::ostream* out) {
  *out << row.name;
}

std::string broken(const std::string& breaks_in, const std::string& how, const std::string& calls) {
  const std::string b = "[plugin.b]\nmodule = \"breaker\"\nbreaks_in = \"" + breaks_in +
                        "\"\nhow = \"" + how + "\"\n";
  if (calls.empty()) return b;
  return b + "[plugin.c]\nmodule = \"caller\"\nof = \"b\"\ncalls = \"" + calls + "\"\n";
}

size_t occurrences(const std::string& text, const std::string& what) {
  size_t out = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++out;
  return out;
}

class Death : public Program, public testing::WithParamInterface<DeathRow> {};

TEST_P(Death, IsToldInOneLineThatNamesThePluginAndTheStep) {
  const DeathRow& row = GetParam();
  Process davit({"run", file(broken(row.breaks_in, row.how, row.calls))});
  const bool at_end = std::string(row.breaks_in) == "destroy";
  if (at_end) {
    ASSERT_TRUE(davit.wait_for_line("ready")) << davit.err();
    davit.signal(SIGTERM);
  }
  const int code = davit.wait();
  EXPECT_NE(code, 0);
  if (own_code) {
    EXPECT_EQ(code, row.code);
  }
  EXPECT_NE(davit.err().find(std::string(row.line) + "\n"), std::string::npos) << davit.err();
  EXPECT_EQ(occurrences(davit.err(), ": died in "), 1U) << davit.err();
}

constexpr int segv = 128 + SIGSEGV, abrt = 128 + SIGABRT;
const DeathRow death_rows[] = {
    {"SegfaultInCreate", "create", "segfault", "", segv,
     "breaker (instance b): died in create: SIGSEGV"},
    {"ExitInCreate", "create", "exit", "", 1,
     "breaker (instance b): died in create: it called exit(1)"},
    {"AbortInWire", "wire", "abort", "", abrt, "breaker (instance b): died in wire: SIGABRT"},
    {"StackOverflowInStart", "start", "overflow", "", segv,
     "breaker (instance b): died in start: SIGSEGV"},
    {"SegfaultOnAStrand", "strand", "segfault", "", segv,
     "breaker (instance b): died in a task: SIGSEGV"},
    {"StackOverflowOnAStrand", "strand", "overflow", "", segv,
     "breaker (instance b): died in a task: SIGSEGV"},
    {"ExitOnAStrand", "strand", "exit", "", 1,
     "breaker (instance b): died in a task: it called exit(1)"},
    {"AbortOnAPool", "pool", "abort", "", abrt,
     "breaker (instance b): died in a blocking task: SIGABRT"},
    {"SegfaultInCommit", "storage.commit", "segfault", "storage.commit", segv,
     "breaker (instance b): died in storage.commit, called by commit queue: SIGSEGV"},
    {"SegfaultInRead", "storage.read", "segfault", "storage.read", segv,
     "breaker (instance b): died in storage.read, called by c: SIGSEGV"},
    {"ExitInReconcile", "kind.reconcile", "exit", "kind.reconcile", 1,
     "breaker (instance b): died in kind.reconcile, called by c: it called exit(1)"},
    {"SegfaultInDestroy", "destroy", "segfault", "", segv,
     "breaker (instance b): died in destroy: SIGSEGV"},
    {"ExitInDestroy", "destroy", "exit", "", 1,
     "breaker (instance b): died in destroy: it called exit(1)"},
};

INSTANTIATE_TEST_SUITE_P(Program, Death, testing::ValuesIn(death_rows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_F(Program, ADeathIsToldByCheckToo) {
  Process davit({"check", file(broken("create", "abort", ""))});
  EXPECT_NE(davit.wait(), 0);
  EXPECT_EQ(davit.err().substr(0, davit.err().find('\n')),
            "breaker (instance b): died in create: SIGABRT");
}

TEST_F(Program, WhoThrowsInATaskOfItsStrandIsNamed) {
  Process davit({"run", file("[plugin.a]\nmodule = \"actor\"\n[plugin.guilty]\nmodule = "
                             "\"thrower\"\nthrows_in = \"strand\"\n")});
  EXPECT_NE(davit.wait(), 0);
  EXPECT_NE(davit.err().find("error guilty    an exception that nobody catches ends the process "
                             "what=\"ouch in strand\" module=thrower doing=\"a task\""),
            std::string::npos)
      << davit.err();
  EXPECT_EQ(occurrences(davit.err(), ": died in "), 0U) << davit.err();
}

// The thread is the caller's, the fault the kind's.
TEST_F(Program, AKindThatThrowsIsNamedAndNotItsCaller) {
  for (const std::string slot : {"kind.validate", "kind.classify", "kind.reconcile"}) {
    Process davit({"run", file(broken(slot, "throw", slot))});
    EXPECT_TRUE(davit.wait_for_line("is answered answer=\"a fault of plugin \\\"b\\\": " + slot +
                                    " threw an exception through the ABI: ouch in " + slot))
        << davit.err();
    davit.signal(SIGTERM);
    EXPECT_EQ(davit.wait(), 0) << davit.err();
  }
}

TEST_F(Program, AStorageThatThrowsIsInTheLogWithItsName) {
  for (const std::string call : {"commit", "report"}) {
    Process davit({"run", file(broken("storage." + call, "throw", "storage." + call))});
    ASSERT_TRUE(davit.wait_for_line("is answered")) << davit.err();
    EXPECT_TRUE(davit.wait_for_line("error b         a call of the storage fails call=" + call +
                                    " error=\"a fault of plugin \\\"b\\\": storage." + call +
                                    " threw an exception through the ABI: ouch in storage." + call))
        << davit.err();
    davit.signal(SIGTERM);
    EXPECT_EQ(davit.wait(), 0) << davit.err();
  }
}

TEST_F(Program, APageThatDoesNotAdvanceIsAFaultOfTheStorage) {
  Process davit({"run", file(broken("page", "", "storage.read"))});
  EXPECT_TRUE(
      davit.wait_for_line("is answered answer=\"a fault of plugin \\\"b\\\": storage.read gave "
                          "a page that does not advance"))
      << davit.err();
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0) << davit.err();
}

TEST_F(Program, AnExceptionInDestroyIsInTheLog) {
  Process davit({"run", file(broken("destroy", "throw", ""))});
  ASSERT_TRUE(davit.wait_for_line("ready")) << davit.err();
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0);
  EXPECT_NE(
      davit.err().find("error b         threw an exception in destroy what=\"ouch in destroy"),
      std::string::npos)
      << davit.err();
}

}  // namespace
}  // namespace davit::test
