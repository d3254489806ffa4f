// What an operator can get wrong, with the exact message for each. $DB is the path that was
// configured.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "plugin_under_test.hpp"

namespace davit::storage_sqlite {
namespace {

namespace fs = std::filesystem;

// A database that was in use and has been closed.
void make(const std::string& path, int records = 3) {
  Life life(path);
  ASSERT_TRUE(life.up.ok()) << life.up.error().message;
  for (int i = 0; i < records; ++i)
    ASSERT_EQ(commit(life.client, group("a" + std::to_string(i))), "");
}

void write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

// Root may write anything, so for these rows the process is somebody else for a while.
class AsNobody {
 public:
  explicit AsNobody(bool wanted) : active_(wanted && geteuid() == 0) {
    EXPECT_EQ(active_ ? seteuid(65534) : 0, 0);
  }
  ~AsNobody() { EXPECT_EQ(active_ ? seteuid(0) : 0, 0); }
  AsNobody(const AsNobody&) = delete;

 private:
  const bool active_;
};

struct Row {
  const char* name;
  std::function<void(std::string& path)> prepare;
  const char* message;
  bool nobody = false;
  bool only_start = false;  // what check cannot see
};

const Row rows[] = {
    {"no directory", [](std::string& p) { p = p.substr(0, p.rfind('/')) + "/absent/davit.db"; },
     "database \"$DB\": its directory does not exist: make it, or choose another path"},
    {"a directory", [](std::string& p) { fs::create_directory(p); },
     "database \"$DB\": is not a file: choose another path"},
    {"directory not writable",
     [](std::string& p) { fs::permissions(fs::path(p).parent_path(), fs::perms(0555)); },
     "database \"$DB\": its directory is not writable (Permission denied): make it writable, or "
     "choose another path",
     true},
    {"read-only",
     [](std::string& p) {
       make(p);
       chmod(p.c_str(), 0444);
     },
     "database \"$DB\": is read-only: make the file and its directory writable", true},
    {"unreadable",
     [](std::string& p) {
       make(p);
       chmod(p.c_str(), 0);
     },
     "database \"$DB\": cannot be read (Permission denied): correct its permissions", true},
    {"text", [](std::string& p) { write(p, std::string(5000, 'x')); },
     "database \"$DB\": is not an SQLite database, or corrupt: restore a backup, or move it away "
     "to begin anew"},
    {"short", [](std::string& p) { write(p, "SQLite"); },
     "database \"$DB\": is not an SQLite database, or corrupt: restore a backup, or move it away "
     "to begin anew"},
    {"another program's",
     [](std::string& p) { sql(p, "CREATE TABLE t (x); INSERT INTO t VALUES (1)"); },
     "database \"$DB\": belongs to another program: choose another path"},
    {"newer schema",
     [](std::string& p) {
       make(p);
       sql(p, "PRAGMA user_version = 9; PRAGMA wal_checkpoint(TRUNCATE)");
     },
     "database \"$DB\": has schema 9, newer than 2, the newest this davit knows: upgrade davit, or "
     "choose another path"},
    {"older schema",
     [](std::string& p) {
       make(p);
       sql(p, "PRAGMA user_version = 1; PRAGMA wal_checkpoint(TRUNCATE)");
     },
     "database \"$DB\": has schema 1 of an earlier pre-release, and this davit reads 2: move it "
     "away to begin anew, or go back to the davit that wrote it"},
    {"cut off",
     [](std::string& p) {
       make(p, 200);
       fs::resize_file(p, fs::file_size(p) / 8192 * 4096);
     },
     "database \"$DB\": is corrupt (database disk image is malformed): restore a backup, or move "
     "it away to begin anew",
     false, true},
};

TEST(BadInput, IsRefusedWithOneLineThatSaysWhatToDo) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const testing::TemporaryDirectory directory;
    chmod(directory.path().c_str(), 0777);
    std::string path = directory.path() + "/davit.db";
    row.prepare(path);
    std::string expected = row.message;
    expected.replace(expected.find("$DB"), 3, path);
    {
      const AsNobody nobody(row.nobody);
      testing::TestHost host("main", {{"path", path}});
      testing::Instance instance(plugin(), host);
      ASSERT_TRUE(instance.create().ok());
      const auto check = instance.check(), start = instance.start();
      if (!row.only_start) {
        ASSERT_FALSE(check.ok());
        EXPECT_EQ(check.error().message, expected);
      }
      ASSERT_FALSE(start.ok());
      EXPECT_EQ(start.error().message, expected);
    }
    chmod(directory.path().c_str(), 0777);
  }
}

TEST(BadInput, AStateDirectoryThatOnlyTheServersUserSeesIsSaid) {
  testing::TestHost host("main");
  testing::Instance instance(plugin(), host);
  ASSERT_TRUE(instance.create().ok());
  const std::string above = fs::path(host.state_directory()).parent_path();
  chmod(above.c_str(), 0);
  {
    const AsNobody nobody(true);
    const auto check = instance.check();
    ASSERT_FALSE(check.ok());
    EXPECT_EQ(check.error().code, Code::failed_precondition);
    EXPECT_EQ(check.error().message,
              "state directory " + host.state_directory() +
                  " cannot be seen (Permission denied): run this as the server's user, or set "
                  "host.state_dir");
  }
  chmod(above.c_str(), 0700);
}

TEST(BadInput, IsFoundInTheConfiguration) {
  struct Line {
    testing::Config config;
    const char* message;
  };
  for (const Line& line : {
           Line{{{"path", "davit.db"}},
                "test.toml:1: plugin.main.path: must be an absolute path, or \":memory:\""},
           Line{{{"path", 7}}, "test.toml:1: plugin.main.path: must be a string"},
           Line{{{"pth", "/x"}}, "test.toml:1: plugin.main.pth: unknown key"},
       }) {
    testing::TestHost host("main", line.config);
    testing::Instance instance(plugin(), host);
    const auto r = instance.create();
    ASSERT_FALSE(r.ok());
    EXPECT_EQ(r.error().message, line.message);
  }
}

// Whatever bytes are overwritten, the process must not end and a fault must not pass for health.
TEST(BadInput, DamageInTheMiddleOfTheFileIsFoundAtTheStart) {
  const testing::TemporaryDirectory directory;
  const std::string whole = directory.path() + "/whole.db", path = directory.path() + "/davit.db";
  make(whole, 300);
  const auto size = fs::file_size(whole);
  int found = 0, tried = 0;
  for (uintmax_t at = 4096; at + 4096 <= size; at += 4096) {
    fs::copy_file(whole, path, fs::copy_options::overwrite_existing);
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(at));
    file << std::string(4096, '\xa5');
    file.close();
    Life life(path);
    ++tried;
    if (life.up.ok()) continue;
    ++found;
    EXPECT_EQ(life.up.error().code, Code::data_loss) << life.up.error().message;
    EXPECT_NE(life.up.error().message.find("is corrupt ("), std::string::npos)
        << life.up.error().message;
  }
  EXPECT_GT(tried, 10);
  EXPECT_EQ(found, tried);
}

TEST(BadInput, ARefusedFileIsLeftAsItWas) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/davit.db";
  make(path);
  sql(path, "PRAGMA user_version = 9; PRAGMA wal_checkpoint(TRUNCATE)");
  const auto content = [&] {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string before = content();
  {
    Life life(path);
    EXPECT_FALSE(life.up.ok());
  }
  EXPECT_EQ(content(), before);
}

}  // namespace
}  // namespace davit::storage_sqlite
