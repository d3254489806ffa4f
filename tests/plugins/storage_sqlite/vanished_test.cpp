// Files that are removed, replaced or emptied while they are open: nothing is acknowledged that
// would be lost with the process.
#include <sqlite3.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "plugin_under_test.hpp"

namespace davit::storage_sqlite {
namespace {

class Vanished : public ::testing::Test {
 protected:
  testing::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/davit.db";

  static std::string lost(const std::string& what) {
    return "storage \"main\": " + what +
           " was removed or replaced while it was open: nothing is written any more; put the files "
           "back if they were moved, and restart";
  }
};

TEST_F(Vanished, ACommitIsRefusedWhicheverFileHasGone) {
  const std::pair<const char*, const char*> files[] = {
      {"", "its file"}, {"-wal", "its journal"}, {".lock", "its lock file"}};
  for (const auto& [suffix, what] : files) {
    const std::string path = path_ + what;
    Life life(path, 0);
    ASSERT_TRUE(life.up.ok()) << life.up.error().message;
    ASSERT_EQ(commit(life.client, group("a")), "");
    // Opens the connection of the reads. It has the file for as long as it is open.
    ASSERT_EQ(count(life.client), 1u);
    std::filesystem::remove(path + suffix);
    EXPECT_EQ(commit(life.client, group("b")), lost(what));
    EXPECT_FALSE(life.client.report_now({status("a", "up")}).ok());
    EXPECT_EQ(life.host.health(), DAVIT_HEALTH_NOT_SERVING);
    EXPECT_EQ(count(life.client), 1u) << "reads go on";
  }
}

TEST_F(Vanished, AnotherFileInItsPlaceIsNotTakenForIt) {
  Life life(path_);
  ASSERT_EQ(commit(life.client, group("a")), "");
  std::filesystem::rename(path_, path_ + ".moved");
  std::ofstream(path_) << "";
  EXPECT_EQ(commit(life.client, group("b")), lost("its file"));
  std::filesystem::rename(path_ + ".moved", path_);
  EXPECT_EQ(commit(life.client, group("b")), "") << "it was put back";
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_SERVING);
}

TEST_F(Vanished, AFileThatWasEmptiedIsNotTakenForANewOne) {
  {
    Life life(path_);
    ASSERT_EQ(commit(life.client, group("a")), "");
  }
  std::filesystem::resize_file(path_, 0);
  Life again(path_);
  ASSERT_FALSE(again.up.ok());
  EXPECT_EQ(again.up.error().message,
            "database \"" + path_ +
                "\": is empty, and was not when it was used last: restore a "
                "backup, or remove it to begin anew");
  std::filesystem::remove(path_);
  Life anew(path_);
  EXPECT_TRUE(anew.up.ok());
}

// A file system that takes what is written and then cannot keep it: delayed allocation, quotas,
// network file systems.
std::atomic<bool> sync_fails{false};
int failing_sync(sqlite3_file* file, int flags);
struct Shim {
  sqlite3_io_methods methods;
  const sqlite3_io_methods* real = nullptr;
} shim;
sqlite3_vfs* real_vfs = nullptr;
sqlite3_vfs shim_vfs;

int failing_sync(sqlite3_file* file, int flags) {
  if (sync_fails) return SQLITE_IOERR_FSYNC;
  return shim.real->xSync(file, flags);
}
int open_shimmed(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
  const int code = real_vfs->xOpen(real_vfs, name, file, flags, out);
  if (code != SQLITE_OK || (flags & SQLITE_OPEN_WAL) == 0) return code;
  static std::once_flag once;  // the one who measures opens it on another thread
  std::call_once(once, [file] {
    shim.real = file->pMethods;
    shim.methods = *file->pMethods;
    shim.methods.xSync = &failing_sync;
  });
  file->pMethods = &shim.methods;
  return code;
}

class FailingSync {
 public:
  FailingSync() {
    real_vfs = sqlite3_vfs_find(nullptr);
    shim_vfs = *real_vfs;
    shim_vfs.zName = "failing_sync";
    shim_vfs.xOpen = &open_shimmed;
    sqlite3_vfs_register(&shim_vfs, 1);
  }
  ~FailingSync() {
    sync_fails = false;
    sqlite3_vfs_register(real_vfs, 1);
    sqlite3_vfs_unregister(&shim_vfs);
  }
  FailingSync(const FailingSync&) = delete;
};

TEST_F(Vanished, ACommitThatTheDiskDidNotConfirmIsNotSaidToBeLost) {
  const FailingSync disk;
  Life life(path_, 1);  // it is measured all the time, but not while it is opened anew
  ASSERT_EQ(commit(life.client, group("a")), "");
  sync_fails = true;
  Group asked = group("b");
  asked.request_id = "request";
  auto unknown = life.client.commit_now({asked});
  ASSERT_FALSE(unknown.ok()) << "nothing is known of any group";
  EXPECT_EQ(unknown.error().code, Code::unavailable);
  EXPECT_NE(unknown.error().message.find("whether it is kept is not known, so ask again"),
            std::string::npos)
      << unknown.error().message;
  sync_fails = false;
  auto again = life.client.commit_now({asked});
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_FALSE((*again)[0].error);
  EXPECT_TRUE(life.host.logged("info: database opened anew head=1"));
  EXPECT_EQ(count(life.client), 2u);
  ASSERT_TRUE(life.instance.stop().ok());
  Life later(path_);
  EXPECT_EQ(count(later.client), 2u);
  EXPECT_EQ(later.client.head()->head.version, Version(2));
}

TEST_F(Vanished, TheJournalThatOpeningAnewMakesIsTheDatabasesOwn) {
  const FailingSync disk;
  Life life(path_);
  ASSERT_EQ(commit(life.client, group("a")), "");
  // By this name the old one lives on, so the new one cannot have its number.
  std::filesystem::create_hard_link(path_ + "-wal", path_ + ".old");
  sync_fails = true;
  EXPECT_NE(commit(life.client, group("b")), "");
  sync_fails = false;
  EXPECT_EQ(commit(life.client, group("b")), "");
  EXPECT_EQ(commit(life.client, group("c")), "");
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_SERVING);
  std::filesystem::remove(path_ + "-wal");
  EXPECT_EQ(commit(life.client, group("d")), lost("its journal")) << "it is watched as before";
}

}  // namespace
}  // namespace davit::storage_sqlite
