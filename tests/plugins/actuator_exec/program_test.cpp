// Programs that do what they should, and each way in which one does not.
#include <sys/stat.h>

#include "exec_fixture.hpp"

namespace davit::actuator_exec {
namespace {

TEST_F(Exec, AProgramReadsOneDocumentAndWritesOne) {
  run(R"(cat >$T/in; echo '{"requeueAfterSeconds":5,"progress":"boots","statusPatch":{"providerStatus":1.10},)"
      R"("events":[{"type":"Normal","reason":"Begun","message":"It has begun."}]}')");
  const std::string cluster =
      R"({"spec":{"n":18446744073709551616,"x":1.10},"metadata":{"uid":"u-1"}})";
  Pending& call = begin("u-1", false, patience, cluster);
  const auto outcome = call.outcome();
  ASSERT_FALSE(outcome.error) << outcome.error->message;
  EXPECT_EQ(outcome.requeue_after, 5s);
  EXPECT_EQ(outcome.progress, "boots");
  EXPECT_EQ(outcome.status_patch, R"({"providerStatus":1.10})");
  ASSERT_EQ(call.events.size(), 1U);
  EXPECT_EQ(call.events[0].message, "It has begun.");
  const std::string in = content("in");
  EXPECT_TRUE(in.starts_with(R"({"apiVersion":"davit.dev/actuator/v1","operation":"reconcile",)"
                             R"("namespace":"default","name":"shop","uid":"u-1","deadline":"20)"))
      << in;
  EXPECT_TRUE(in.ends_with(R"("cluster":)" + cluster + "}\n")) << "as it was given: " << in;
}

TEST_F(Exec, ARemoveIsADelete) {
  run("cat >$T/in; echo '{}'");
  EXPECT_EQ(begin("u-1", true).words(), "done");
  EXPECT_NE(content("in").find(R"("operation":"delete")"), std::string::npos);
}

TEST_F(Exec, AnErrorOfTheProgramIsTheAnswer) {
  run(R"(echo '{"error":{"code":"INVALID_ARGUMENT","message":"no such zone",)"
      R"("where":"spec.zone","reason":"InvalidConfiguration"}}')");
  const auto outcome = begin().outcome();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, Code::invalid_argument);
  EXPECT_EQ(outcome.error->where, "spec.zone");
  EXPECT_EQ(outcome.error_reason, "InvalidConfiguration");
}

TEST_F(Exec, WhatCannotBeReadIsNoSuccess) {
  run("cat $T/answer; cat $T/words >&2; exit $(cat $T/status)");
  struct Row {
    const char *answer, *words, *status, *error;
  };
  const Row rows[] = {
      {"", "", "0", "13: program \"sh\": it has written no answer"},
      {"", "out of\x1b[31m\n  luck\n", "3",
       "14: program \"sh\": it ended with exit code 3; it says: out of luck"},
      {"{}", "", "3", "14: program \"sh\": it ended with exit code 3"},
      {"{}{}", "", "0",
       "13: program \"sh\": its answer has \"{}\" behind its end; it must be one document and "
       "nothing else"},
      {"{\"done\":true}", "hm\n", "0",
       "13: program \"sh\": its answer has an unknown member \"done\"; it says: hm"},
      {"{\"progress\":1}", "", "0",
       "13: program \"sh\": its answer is wrong: progress must be a string"},
      {"\xff\xfe", "\xff", "0", "13: program \"sh\": its answer is no valid UTF-8; it says: ?"},
  };
  for (const Row& row : rows) {
    write("answer", row.answer);
    write("words", row.words);
    write("status", row.status);
    EXPECT_EQ(begin().words(), row.error);
  }
}

TEST_F(Exec, AProgramThatIsKilledIsNoSuccess) {
  run("echo '{}'; kill -SEGV $$");
  EXPECT_EQ(begin().words(), "13: program \"sh\": signal 11 ended it");
}

TEST_F(Exec, AHundredMebibytesAreTooMany) {
  run("head -c 104857600 /dev/zero");
  EXPECT_EQ(begin().words(), "13: program \"sh\": it wrote more than 1048576 bytes");
}

TEST_F(Exec, EndlessWordsEndWithTheTimeLimit) {
  run("while :; do echo rubbish >&2; done", {{"timeout_ms", 3'000}});
  const std::string words = begin().words();
  EXPECT_TRUE(words.starts_with("14: program \"sh\": it took longer than 3000 ms; it says: "))
      << words;
  EXPECT_LT(words.size(), 600U);
}

TEST_F(Exec, AProgramThatNeverEndsIsEnded) {
  run("echo $$ >$T/pid; exec sleep 600", {{"timeout_ms", 3'000}});
  EXPECT_EQ(begin().words(), "14: program \"sh\": it took longer than 3000 ms");
  EXPECT_TRUE(host_->run_until([&] { return has_ended(content("pid")); }, patience));
}

TEST_F(Exec, AProgramThatIgnoresSigtermIsKilledAfterTheGrace) {
  run("trap '' TERM; echo $$ >$T/pid; while :; do sleep 0.1; done",
      {{"timeout_ms", 3'000}, {"kill_grace_ms", 100}});
  EXPECT_EQ(begin().words(), "14: program \"sh\": it took longer than 3000 ms");
  EXPECT_TRUE(host_->run_until([&] { return has_ended(content("pid")); }, patience));
}

TEST_F(Exec, WhoHoldsThePipesHoldsNobodyUpAndIsEnded) {
  run("sleep 600 & echo $! >$T/pid; echo '{}'");
  EXPECT_EQ(begin().words(), "done");
  EXPECT_TRUE(host_->run_until([&] { return has_ended(content("pid")); }, patience));
  EXPECT_EQ(words_later(), "done");
}

TEST_F(Exec, AProgramNeedNotReadWhatItIsGiven) {
  run("exec <&-; echo '{}'");
  const std::string large = R"({"spec":")" + std::string(8 << 20, 'x') + R"("})";
  EXPECT_EQ(begin("u-1", false, patience, large).words(), "done");
}

TEST_F(Exec, WhatCannotBeRunIsSaidAtTheStart) {
  const auto refused = [&](std::vector<std::string> command) {
    const auto began = up_with(testing::Config{{"command", std::move(command)}});
    return began.ok() ? "it runs" : began.error().message;
  };
  write("plain", "#!/bin/sh\necho '{}'\n");
  EXPECT_EQ(refused({path("missing")}), "the program \"" + path("missing") + "\" is not there");
  EXPECT_EQ(refused({path("plain")}), "the program \"" + path("plain") +
                                          "\" may not be run by this user (" + path("plain") + ")");
  EXPECT_EQ(refused({folder_.path() + "/"}), "the program \"" + folder_.path() + "/\" is no file");
  EXPECT_EQ(refused({"no-such-program-anywhere"}),
            "the program \"no-such-program-anywhere\" is not in "
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
}

TEST_F(Exec, WhatCannotBeRunLaterFailsTheCall) {
  write("program", "this is no program");
  ::chmod(path("program").c_str(), 0755);
  const auto began = up_with(testing::Config{{"command", {path("program").c_str()}}});
  ASSERT_TRUE(began.ok()) << began.error().message;
  EXPECT_EQ(begin().words(), "9: program \"program\": it could not be started: Exec format error");
  write("program", "#!" + path("nowhere") + "\n");
  EXPECT_EQ(begin().words(),
            "9: program \"program\": it could not be started: No such file or directory (the "
            "program, or what its first line names)");
  ::chmod(path("program").c_str(), 0644);
  EXPECT_EQ(begin().words(), "9: program \"program\": it could not be started: Permission denied");
  write("program", "#!/bin/sh\necho '{}'\n");
  ::chmod(path("program").c_str(), 0755);
  EXPECT_EQ(begin().words(), "done") << "without a restart";
}

TEST_F(Exec, ItWorksInItsFolder) {
  std::filesystem::create_directory(path("work"));
  run("pwd >$T/pwd; echo '{}'", {{"working_directory", path("work")}});
  EXPECT_EQ(begin().words(), "done");
  EXPECT_EQ(content("pwd"), path("work") + "\n");
  std::filesystem::remove(path("work"));
  EXPECT_EQ(begin().words(),
            "9: program \"sh\": its working directory cannot be entered: No such "
            "file or directory");
  const auto began = up("echo '{}'", {{"working_directory", path("work")}});
  ASSERT_FALSE(began.ok());
  EXPECT_EQ(began.error().message, "the folder " + path("work") + " cannot be entered");
}

TEST_F(Exec, ItWorksInTheInstancesStateUnlessTold) {
  run("pwd >$T/pwd; echo '{}'");
  EXPECT_EQ(begin().words(), "done");
  EXPECT_EQ(content("pwd"), host_->state_directory() + "/work\n");
}

TEST_F(Exec, WhatItSaysIsInTheLogAndHarmless) {
  run("printf 'one\\033[2Jtwo\\nthree' >&2; i=0; while [ $i -lt 300 ]; do echo line $i >&2; "
      "i=$((i+1)); done; echo '{}'");
  EXPECT_EQ(begin().words(), "done");
  EXPECT_TRUE(host_->logged("debug: the program says cluster=default/shop line=onetwo"));
  EXPECT_TRUE(host_->logged("line=threeline 0"));
  EXPECT_TRUE(host_->logged("line=(more lines of this call are left out)"));
  EXPECT_FALSE(host_->logged("line=line 250"));
}

TEST_F(Exec, ClustersOfOthersAreNotBuilt) {
  run("touch $T/ran; echo '{}'", {{"providers", {"a.example", "b.example/v2"}}});
  const auto of = [&](const std::string& value, bool remove) {
    std::filesystem::remove(path("ran"));
    Pending& call = begin("u-1", remove, patience, R"({"spec":{"providerSpec":)" + value + "}}");
    const auto outcome = call.outcome();
    const bool ran = std::filesystem::exists(path("ran"));
    EXPECT_EQ(ran, !outcome.error) << value;
    return outcome.error
               ? std::to_string(static_cast<int>(outcome.error->code)) + " " + outcome.error->where
               : std::string("done");
  };
  EXPECT_EQ(of(R"({"value":{"apiVersion":"a.example/v7"}})", false), "done");
  EXPECT_EQ(of(R"({"value":{"apiVersion":"b.example/v2"}})", false), "done");
  for (const char* other : {R"({"value":{"apiVersion":"b.example/v1"}})",
                            R"({"value":{"apiVersion":"a.example.com/v1"}})"}) {
    EXPECT_EQ(of(other, false), "12 spec.providerSpec.value.apiVersion");
    EXPECT_EQ(of(other, true), "done") << "it may have been ours before it was changed";
  }
  for (const char* none : {"{}", "null", "5", R"({"value":{}})", R"({"value":[]})"}) {
    EXPECT_EQ(of(none, false), "3 spec.providerSpec.value.apiVersion");
    EXPECT_EQ(of(none, true), "done") << "the program knows by the uid what there is";
  }
}

TEST_F(Exec, AClusterThatIsNoJsonRunsNoProgram) {
  run("touch $T/ran; echo '{}'");
  for (const char* broken : {"", "{", "[]", "5", "{} {}", "{\"a\":\"\xff\"}"}) {
    for (const bool remove : {false, true})
      EXPECT_EQ(begin("u-1", remove, patience, broken).code(), Code::invalid_argument) << broken;
  }
  EXPECT_EQ(begin("").code(), Code::invalid_argument) << "without a uid";
  EXPECT_FALSE(std::filesystem::exists(path("ran")));
}

}  // namespace
}  // namespace davit::actuator_exec
