// The part of Database that moves the journal into the file.
#include "database.hpp"

namespace davit::storage_sqlite {
namespace {

// The journal is moved into the file, beside the commits, each time it has grown by journal_step
// pages of 4 KiB. If commits never pause, some pages always remain and the journal cannot begin
// anew. So from journal_wanted pages on, commits wait for the last few pages. A journal that only
// grows makes each commit up to twice as slow, because the file's new size is flushed with it. At
// journal_max pages, which readers that never end can cause, the commits themselves move the
// journal.
constexpr int journal_step = 1'000;
constexpr int journal_wanted = 2'000;
constexpr int journal_max = 16'000;
constexpr int journal_held = 2 * journal_max;  // a reader does not end: the log warns
constexpr int moves_at_once = 2;  // commits during a move are left for the next, and are fewer

}  // namespace

void Database::begin_journal() {
  journal_due_at_ = journal_step;
  sqlite3_wal_hook(writer_->get(), &Database::journal_grew, this);
}

// SQLite calls this after each commit. The caller holds the writer's lock.
int Database::journal_grew(void* self, sqlite3* connection, const char*, int pages) {
  auto& database = *static_cast<Database*>(self);
  database.journal_pages_ = pages;
  if (pages < journal_step) database.journal_due_at_ = journal_step;  // the journal begins anew
  if (pages >= journal_max) sqlite3_wal_checkpoint(connection, nullptr);
  const bool held = pages >= (database.journal_is_held_ ? journal_step : journal_held);
  if (held && !database.journal_is_held_) {
    database.host_.warn(
        "the journal grows: another program, or a backup, reads the database and "
        "does not end",
        {{"pages", std::to_string(pages)}});
  } else if (!held && database.journal_is_held_) {
    database.host_.info("the journal is short again");
  }
  database.journal_is_held_ = held;
  return SQLITE_OK;
}

bool Database::journal_is_due() {
  int due = journal_due_at_;
  const int pages = journal_pages_;
  return lock_ && pages >= due &&
         journal_due_at_.compare_exchange_strong(due, pages + journal_step);
}

Result<> Database::move_journal() {
  const std::lock_guard lock(mover_mutex_);
  if (mover_is_old_.exchange(false)) mover_.reset();
  if (!mover_) {
    auto made = Connection::open(path_, SQLITE_OPEN_READWRITE);
    if (!made.ok()) return made.error();
    // A connection that has never read does not know the journal, and would move nothing.
    (*made)->script("SELECT count(*) FROM sqlite_schema");
    if ((*made)->failed()) return (*made)->take_error();
    mover_ = std::move(*made);
  }
  int moved = 0;
  const auto move = [&] {
    return sqlite3_wal_checkpoint_v2(mover_->get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr,
                                     &moved);
  };
  int code = SQLITE_OK;
  for (int i = 0; code == SQLITE_OK && i < moves_at_once && moved < journal_pages_; ++i)
    code = move();
  if (code == SQLITE_OK && moved < journal_pages_ && journal_pages_ >= journal_wanted) {
    const std::lock_guard no_commits(writer_lock_);
    code = move();
  }
  if (code == SQLITE_OK && moved >= journal_pages_) moved_at_unix_ms_ = host_.unix_ms();
  if (code == SQLITE_OK || code == SQLITE_BUSY) return {};  // busy: another connection is moving it
  return mover_->translate(code);
}

// Does what SQLite advises from time to time: collects statistics for its planner, and moves the
// journal into the file. If nobody is reading, the journal's file is also truncated.
Result<> Database::tidy() {
  const std::lock_guard held(writer_lock_);
  if (unsettled_) {
    if (auto r = reopen(); !r.ok()) return r;
  }
  Connection& c = *writer_;
  if (auto fault = open_files_ ? open_files_->fault() : std::nullopt)
    return Error{Code::data_loss, "database \"" + path_ + "\": " + *fault, path_};
  c.script("PRAGMA optimize");
  sqlite3_busy_timeout(c.get(), 0);  // do not wait for readers
  const int code =
      sqlite3_wal_checkpoint_v2(c.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(c.get(), Connection::busy_timeout_ms);
  if (c.failed()) return c.take_error();
  if (code == SQLITE_OK) moved_at_unix_ms_ = host_.unix_ms();
  if (code == SQLITE_OK || code == SQLITE_BUSY) return {};
  return c.translate(code);
}

}  // namespace davit::storage_sqlite
