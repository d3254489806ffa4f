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
  EXPECT_EQ(completed({"--"}), "--help --version ");
}

TEST(Completion, OffersWhatAnOptionTakes) {
  EXPECT_EQ(completed({"get", "-o", ""}), "table json yaml ");
  EXPECT_EQ(completed({"get", "--output", "j"}), "json ");
  EXPECT_EQ(completed({"apply", "-f", "sh"}), ":files");
  EXPECT_EQ(completed({"get", "--region", "e"}), "") << "nobody knows the regions here";
  EXPECT_EQ(completed({"get", "--region", "eu", "--w"}), "--watch ");
  EXPECT_EQ(completed({"get", "--region=eu", "--w"}), "--watch ");
}

TEST(Completion, OffersWhatAWordCanBe) {
  EXPECT_EQ(completed({"completion", ""}), "bash zsh ");
  EXPECT_EQ(completed({"explain", "un"}), "unwatched unattended unknown unhealthy ");
  EXPECT_EQ(completed({"run", "--", "-"}), ":files");
  EXPECT_EQ(completed({"run", "a.toml", ""}), ":files") << "any number of them";
  EXPECT_EQ(completed({"storage", "restore", "copy", ""}), ":files");
  EXPECT_EQ(completed({"storage", "backup", "copy", ""}), "") << "there is no second word";
}

}  // namespace
}  // namespace davit::host
