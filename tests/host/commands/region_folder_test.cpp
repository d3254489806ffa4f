#include "commands/region_folder.hpp"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace davit::host {
namespace {

namespace fs = std::filesystem;

RegionOwner cluster(const std::string& uid) {
  RegionOwner out;
  out.uid = uid;
  out.ns = "default";
  out.name = "shop";
  out.agent_name = "davit-agent";
  out.agent_ns = "davit-system";
  out.claimed_at = 1'000;
  return out;
}

class RegionFolderTest : public testing::Test {
 protected:
  RegionFolderTest() {
    std::string pattern = (fs::temp_directory_path() / "davit-regions-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~RegionFolderTest() override {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::set<std::string> files() const {
    std::set<std::string> out;
    for (const auto& entry : fs::directory_iterator(path))
      out.insert(entry.path().filename().string());
    return out;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path + "/" + name) << text;
  }
  RegionFolder folder() const { return RegionFolder(path); }
  // All that is done for a region, and all that is done when it goes.
  void join(const std::string& uid) const {
    ASSERT_TRUE(folder().claim("eu-1", cluster(uid)).ok());
    ASSERT_TRUE(folder().token("eu-1").ok());
  }
  void leave() const {
    ASSERT_TRUE(folder().withdraw_token("eu-1").ok());
    ASSERT_TRUE(folder().release("eu-1").ok());
  }

  std::string path;
};

using Files = std::set<std::string>;

TEST_F(RegionFolderTest, KeepsWhatIsNotedOfAnOwner) {
  RegionOwner owner = cluster("a");
  ASSERT_TRUE(folder().claim("eu-1", owner).ok());
  owner.joined = true;
  owner.removing_since = 2;
  owner.leaving_since = 3;
  owner.withdrawn_at = 4;
  ASSERT_TRUE(folder().note("eu-1", owner).ok());
  EXPECT_EQ(**folder().owner("eu-1"), owner);
  const auto owned = folder().owned_by("a");
  ASSERT_EQ(owned->size(), 1U);
  EXPECT_EQ(owned->front().first, "eu-1");
  EXPECT_TRUE(folder().owned_by("b")->empty());
  EXPECT_EQ(files(), Files{".eu-1.owner"});
}

TEST_F(RegionFolderTest, GivesARegionToOneCluster) {
  join("a");
  EXPECT_TRUE(folder().claim("eu-1", cluster("a")).ok()) << "it is its own";
  const auto second = folder().claim("eu-1", cluster("b"));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::already_exists);
  EXPECT_EQ((*folder().owner("eu-1"))->uid, "a");
  EXPECT_EQ(files(), (Files{".eu-1.owner", "eu-1.token"}));
  leave();
  EXPECT_TRUE(folder().claim("eu-1", cluster("b")).ok());
}

TEST_F(RegionFolderTest, TakesNoTokenThatItHasNotMade) {
  write("eu-1.token", "by-hand\n");
  const auto claimed = folder().claim("eu-1", cluster("a"));
  ASSERT_FALSE(claimed.ok());
  EXPECT_EQ(claimed.error().code, Code::already_exists);
  EXPECT_EQ(files(), Files{"eu-1.token"});
}

TEST_F(RegionFolderTest, MakesATokenOnceForItsOwnerAlone) {
  join("a");
  const auto token = folder().token("eu-1");
  EXPECT_EQ(token->size(), 64U);
  EXPECT_EQ(*folder().token("eu-1"), *token);
  struct stat found {};
  ASSERT_EQ(::stat((path + "/eu-1.token").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  leave();
  EXPECT_TRUE(files().empty());
  join("b");
  EXPECT_NE(*folder().token("eu-1"), *token);
}

// What each step leaves when it is killed, in the order of the steps.
TEST_F(RegionFolderTest, GoesOnWhereverItWasKilled) {
  write(".eu-1.new-a", "{\"ui");
  join("a");
  EXPECT_EQ(files(), (Files{".eu-1.owner", "eu-1.token"}));
  const std::string token = *folder().token("eu-1");

  fs::create_hard_link(path + "/.eu-1.owner", path + "/.eu-1.new-a");  // linked, not yet unlinked
  join("a");
  EXPECT_EQ(files(), (Files{".eu-1.owner", "eu-1.token"}));
  EXPECT_EQ(*folder().token("eu-1"), token);

  fs::remove(path + "/eu-1.token");
  write(".eu-1.token.new", "half");
  join("a");
  EXPECT_EQ(files(), (Files{".eu-1.owner", "eu-1.token"}));
  EXPECT_EQ(folder().token("eu-1")->size(), 64U);

  write(".eu-1.new-a", "half of a note");
  write(".eu-1.token.new", "half");
  leave();
  EXPECT_TRUE(files().empty());
  leave();  // again
  EXPECT_TRUE(files().empty());
}

TEST_F(RegionFolderTest, SaysWhatCannotBeRead) {
  write(".eu-1.owner", "{\"uid\": 7}");
  const auto owner = folder().owner("eu-1");
  ASSERT_FALSE(owner.ok());
  EXPECT_EQ(owner.error().code, Code::failed_precondition);
  EXPECT_FALSE(folder().claim("eu-1", cluster("a")).ok());
  EXPECT_TRUE(folder().owned_by("a")->empty()) << "other Clusters go on";
  write("eu-2.token", "two words\n");
  EXPECT_EQ(folder().token("eu-2").error().code, Code::failed_precondition);
  EXPECT_EQ(RegionFolder(path + "/away").require().error().code, Code::unavailable);
  EXPECT_FALSE(RegionFolder(path + "/away").owned_by("a").ok());
}

}  // namespace
}  // namespace davit::host
