// A plugin that does not return is named while the host runs, and again when it keeps it from
// ending.
#include <csignal>

#include "program.hpp"

namespace davit::test {
namespace {

struct StallRow {
  const char* name;
  const char* breaks_in;
  const char* calls;    // what the instance c calls of the instance b; "": there is no c
  const char* warning;  // "": none, for this may take its time
  const char* last;     // the line at the end
};

void PrintTo(const StallRow& row, std::ostream* out) {
  *out << row.name;
}

class Stall : public Program, public testing::WithParamInterface<StallRow> {};

TEST_P(Stall, IsNamedWhileItLastsAndAtTheEnd) {
  const StallRow& row = GetParam();
  std::string toml =
      "stall_warning_ms = 100\nstop_timeout_ms = 100\n[plugin.b]\nmodule = \"breaker\"\n"
      "breaks_in = \"" +
      std::string(row.breaks_in) + "\"\nhow = \"hang\"\n";
  if (*row.calls != '\0')
    toml +=
        "[plugin.c]\nmodule = \"caller\"\nof = \"b\"\ncalls = \"" + std::string(row.calls) + "\"\n";
  Process davit({"run", file(toml)});
  const bool at_end =
      std::string(row.breaks_in) == "stop" || std::string(row.breaks_in) == "destroy";
  if (at_end) {
    ASSERT_TRUE(davit.wait_for_line("ready")) << davit.err();
    davit.signal(SIGTERM);
  }
  ASSERT_TRUE(davit.wait_for_line("b         hangs")) << davit.err();
  if (*row.warning != '\0') {
    EXPECT_TRUE(davit.wait_for_line("warn  b         does not return " + std::string(row.warning) +
                                    " for_ms="))
        << davit.err();
  }
  if (!at_end) davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 3);
  EXPECT_NE(davit.err().find("error host      did not stop in time; ending without it " +
                             std::string(row.last) + "\n"),
            std::string::npos)
      << davit.err();
}

const StallRow stall_rows[] = {
    {"InCreate", "create", "", "doing=create called_by=host holds=\"the host's start or stop\"",
     "instance=b stop_timeout_ms=100 doing=create why=\"does not return from create\""},
    {"InWire", "wire", "", "doing=wire called_by=host holds=\"the host's start or stop\"",
     "instance=b stop_timeout_ms=100 doing=wire why=\"does not return from wire\""},
    {"InStart", "start", "", "doing=start called_by=host holds=\"the host's start or stop\"",
     "instance=b stop_timeout_ms=100 doing=start why=\"does not return from start\""},
    {"InStop", "stop", "", "doing=stop called_by=host holds=\"the host's start or stop\"",
     "instance=b stop_timeout_ms=100 doing=stop why=\"does not return from stop\""},
    {"InDestroy", "destroy", "", "doing=destroy called_by=host holds=\"the host's start or stop\"",
     "instance=b stop_timeout_ms=100 doing=destroy why=\"does not return from destroy\""},
    {"OnAStrand", "strand", "", "doing=\"a task\" called_by=host holds=\"a worker and its strand\"",
     "instance=b stop_timeout_ms=100 doing=work why=\"a task of \\\"b\\\", holds a worker\""},
    {"OnAPool", "pool", "", "",
     "instance=b stop_timeout_ms=100 doing=work why=\"a blocking task of \\\"b\\\", does not "
     "end\""},
    {"InReconcile", "kind.reconcile", "kind.reconcile",
     "doing=kind.reconcile called_by=c holds=\"a thread of its pool\"",
     "instance=b stop_timeout_ms=100 doing=stop why=\"kind.reconcile of \\\"b\\\", called by "
     "\\\"c\\\", has not ended\""},
    {"InValidate", "kind.validate", "kind.validate",
     "doing=kind.validate called_by=c holds=\"a thread of its pool\"",
     "instance=b stop_timeout_ms=100 doing=stop why=\"kind.validate of \\\"b\\\", called by "
     "\\\"c\\\", has not ended\""},
    {"InClassify", "kind.classify", "kind.classify",
     "doing=kind.classify called_by=c holds=\"a thread of its pool\"",
     "instance=b stop_timeout_ms=100 doing=stop why=\"kind.classify of \\\"b\\\", called by "
     "\\\"c\\\", has not ended\""},
    {"InCommit", "storage.commit", "storage.commit",
     "doing=storage.commit called_by=\"commit queue\" holds=\"a thread of its pool\"",
     "instance=b stop_timeout_ms=100 doing=stop why=\"storage.commit of \\\"b\\\", called by "
     "\\\"commit queue\\\", has not ended\""},
    {"InRead", "storage.read", "storage.read",
     "doing=storage.read called_by=c holds=\"a thread of its pool\"",
     "instance=b stop_timeout_ms=100 doing=stop why=\"storage.read of \\\"b\\\", called by "
     "\\\"c\\\", has not "
     "ended\""},
};

INSTANTIATE_TEST_SUITE_P(Program, Stall, testing::ValuesIn(stall_rows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_F(Program, ASecondSignalEndsAtOnceWhateverHangs) {
  for (const std::string step : {"create", "start", "strand", "pool"}) {
    Process davit({"run", file("stop_timeout_ms = 60000\n[plugin.b]\nmodule = \"breaker\"\n"
                               "breaks_in = \"" +
                               step + "\"\nhow = \"hang\"\n")});
    ASSERT_TRUE(davit.wait_for_line("b         hangs")) << davit.err();
    davit.signal(SIGTERM);
    davit.signal(SIGINT);
    EXPECT_EQ(davit.wait(), 1) << davit.err();
  }
}

// A kind may block, so nobody calls it where nothing may block.
TEST_F(Program, ACallOfAKindThatIsNotOnAPoolIsRefusedAndItsCallerNamed) {
  const std::pair<const char*, const char*> rows[] = {
      {"strand", "a task of \\\"c\\\""},
      {"visit", "storage.read of \\\"b\\\", called by \\\"c\\\""},
      {"start", "start of \\\"c\\\""}};
  for (const auto& [from, where] : rows) {
    for (const std::string slot : {"kind.reconcile", "kind.validate", "kind.classify"}) {
      Process davit({"run", file("[plugin.b]\nmodule = \"breaker\"\nbreaks_in = \"visit\"\n"
                                 "[plugin.c]\nmodule = \"caller\"\nof = \"b\"\ncalls = \"" +
                                 slot + "\"\nfrom = \"" + from + "\"\n")});
      EXPECT_TRUE(davit.wait_for_line(
          "is answered answer=\"a fault of plugin \\\"c\\\": it calls " + slot +
          " of \\\"b\\\", which may block, in " + where + ": call it on a pool\""))
          << davit.err();
      davit.signal(SIGTERM);
      EXPECT_EQ(davit.wait(), 0) << davit.err();
    }
  }
}

// The storage has ended by then.
TEST_F(Program, ACallThatComesAfterTheStopOfAStorageIsRefused) {
  Process davit({"run", file("[plugin.b]\nmodule = \"breaker\"\n[plugin.c]\nmodule = \"caller\"\n"
                             "of = \"b\"\nat_end = true\n")});
  ASSERT_TRUE(davit.wait_for_line("ready")) << davit.err();
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0);
  EXPECT_NE(davit.err().find("is answered answer=\"plugin \\\"b\\\" has stopped: storage.head is "
                             "called too late"),
            std::string::npos)
      << davit.err();
}

}  // namespace
}  // namespace davit::test
