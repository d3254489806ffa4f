#include "commands/completion.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

// The candidates, and ":files" if the names of files are wanted.
std::string completed(const std::vector<std::string>& words) {
  const CommandPtr davit = davit_command();
  const Completion found = complete(*davit, words);
  std::string out;
  for (const auto& candidate : found.candidates) out += candidate.word + " ";
  return out + (found.files ? ":files" : "");
}

TEST(Completion, OffersCommandsAndTheirVerbs) {
  EXPECT_EQ(completed({"s"}), "status storage ");
  EXPECT_EQ(completed({"storage", ""}), "backup restore verify maintain migrate copy ");
  EXPECT_EQ(completed({"storage", "--server", "u", "ve"}), "verify ");
  EXPECT_EQ(completed({"nothing", ""}), completed({""})) << "an unknown word changes nothing";
  EXPECT_EQ(completed({""}).find("__complete"), std::string::npos);
}

TEST(Completion, OffersTheOptionsOfTheCommandAndOfThoseAbove) {
  EXPECT_EQ(completed({"storage", "maintain", "--"}),
            "--help --dry-run --retention --output --server --token-file --ca-file --timeout ");
  EXPECT_EQ(completed({"get", "--re"}), "--region ");
  EXPECT_EQ(completed({"--h"}), "--help ");
}

TEST(Completion, OffersEveryOptionBeforeACommand) {
  EXPECT_EQ(completed({"--reg"}), "--region ") << "once, though several commands have it";
  EXPECT_EQ(completed({"--"}).find("--help --version "), 0u);
  EXPECT_NE(completed({"--"}).find(" --server "), std::string::npos);
  EXPECT_NE(completed({"--"}).find(" --dry-run "), std::string::npos);
}

// What a server is to be asked for: "ids deployment eu w", and where it is.
std::string asked(const std::vector<std::string>& words) {
  const CommandPtr davit = davit_command();
  const Completion found = complete(*davit, words);
  static const char* const names[] = {"nothing", "kinds", "regions", "ids"};
  std::string out = names[static_cast<int>(found.records)];
  for (const std::string& more : {found.kind, found.region, found.typed})
    out += " " + (more.empty() ? "-" : more);
  const auto server = found.options.find("server");
  return out + (found.pairs ? " pairs" : "") +
         (server == found.options.end() ? "" : " of " + server->second);
}

TEST(Completion, AsksAServerForKindsIdsAndRegions) {
  EXPECT_EQ(asked({"get", ""}), "kinds - - -");
  EXPECT_EQ(asked({"status", "dep"}), "kinds - - dep");
  EXPECT_EQ(asked({"get", "deployment", "w"}), "ids deployment - w");
  EXPECT_EQ(asked({"delete", "deployment", "a", ""}), "ids deployment - -");
  EXPECT_EQ(asked({"get", "deployment/w"}), "ids deployment - deployment/w pairs");
  EXPECT_EQ(asked({"get", "-r", "eu-1", "deployment", ""}), "ids deployment eu-1 -");
  EXPECT_EQ(asked({"get", "-reu-1", "deployment", ""}), "ids deployment eu-1 -");
  EXPECT_EQ(asked({"get", "--region=eu-1", "deployment", ""}), "ids deployment eu-1 -");
  EXPECT_EQ(asked({"--server", "unix:/s", "get", "--region", "e"}), "regions - - e of unix:/s");
  EXPECT_EQ(asked({"agent", "forget", ""}), "regions - - -");
  EXPECT_EQ(asked({"apply", "-f", ""}), "nothing - - -");
}

TEST(Completion, OffersWhatAnOptionTakes) {
  EXPECT_EQ(completed({"get", "-o", ""}), "table wide name json yaml jsonpath= ");
  EXPECT_EQ(completed({"status", "-o", ""}), "table wide json yaml jsonpath= ");
  EXPECT_EQ(completed({"delete", "-o", ""}), "table name json yaml ");
  EXPECT_EQ(completed({"storage", "maintain", "-o", ""}), "table json yaml ");
  EXPECT_EQ(completed({"get", "--output", "j"}), "json jsonpath= ");
  EXPECT_EQ(completed({"apply", "-f", "sh"}), ":files");
  EXPECT_EQ(completed({"delete", "--file", ""}), ":files") << "or a folder";
  EXPECT_EQ(completed({"get", "--region", "e"}), "") << "nobody knows the regions here";
  EXPECT_EQ(completed({"get", "--region", "eu", "--wa"}), "--watch ");
  EXPECT_EQ(completed({"get", "--region=eu", "--wa"}), "--watch ");
  EXPECT_EQ(completed({"get", "--sel"}), "") << "an option that is refused";
}

TEST(Completion, OptionsMayStandBeforeTheirCommand) {
  EXPECT_EQ(completed({"--server", "get", "s"}), "status storage ") << "the name of a server";
  EXPECT_EQ(completed({"--server", "u", "get", "--re"}), "--region ");
  EXPECT_EQ(completed({"-o", "j"}), "json ");
}

TEST(Completion, OffersWhatAWordCanBe) {
  EXPECT_EQ(completed({"completion", ""}), "bash zsh fish ");
  EXPECT_EQ(completed({"explain", "un"}), "unwatched unattended unknown unhealthy ");
  EXPECT_EQ(completed({"run", "--", "-"}), ":files");
  EXPECT_EQ(completed({"run", "a.toml", ""}), ":files") << "any number of them";
  EXPECT_EQ(completed({"storage", "restore", "copy", ""}), ":files");
  EXPECT_EQ(completed({"storage", "backup", "copy", ""}), "") << "there is no second word";
}

}  // namespace
}  // namespace davit::host
