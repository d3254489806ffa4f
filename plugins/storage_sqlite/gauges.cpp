#include "gauges.hpp"

#include <limits>

#include "database.hpp"
#include "davit/operation.hpp"

namespace davit::storage_sqlite {
namespace {

// If counting takes longer than this, the numbers of rows are left out. reopen() may have to wait
// this long.
constexpr std::chrono::seconds patience{1};

template <class Number>
double value(const std::optional<Number>& number) {
  return number ? static_cast<double>(*number) : std::numeric_limits<double>::quiet_NaN();
}

Metric gauge(const Host& host, const char* name, const char* help) {
  const Metric made = host.gauge(name, help, {{"storage", std::string(host.instance())}});
  made.set(std::numeric_limits<double>::quiet_NaN());  // hidden until it is known
  return made;
}

}  // namespace

Gauges::Gauges(const Host& host, std::chrono::milliseconds interval, Outstanding& outstanding)
    : host_(host),
      interval_(interval),
      outstanding_(outstanding),
      file_bytes_(gauge(host, "davit_storage_database_bytes", "Size of the database's file.")),
      journal_bytes_(gauge(host, "davit_storage_journal_bytes", "Size of its journal (WAL).")),
      free_bytes_(gauge(host, "davit_storage_free_bytes",
                        "What is free on the file system of the database.")),
      records_(gauge(host, "davit_storage_records", "Records that live.")),
      tombstones_(gauge(host, "davit_storage_tombstones", "Records that are deleted, and kept.")),
      statuses_(gauge(host, "davit_storage_statuses", "Statuses that are kept.")),
      moved_at_(gauge(host, "davit_storage_checkpoint_timestamp_seconds",
                      "When the whole journal was moved into the file last.")),
      strand_(host.strand()),
      timer_(strand_) {}

void Gauges::begin(std::weak_ptr<Database> database) {
  if (interval_.count() == 0) return;
  database_ = std::move(database);
  begun_ = true;
  strand_.post([this, ticket = outstanding_.begin()] { measure(); });
}

void Gauges::end() {
  if (!begun_) return;
  strand_.post([this, ticket = outstanding_.begin()] {
    ended_ = true;
    timer_.cancel();
  });
}

void Gauges::measure() {
  if (ended_) return;
  host_.blocking({}, [this, ticket = outstanding_.begin()] {
    const Operation operation((host_.now() + patience).count());
    if (const auto database = database_.lock()) show(database->measure(operation));
    strand_.post([this, ticket = outstanding_.begin()] {
      if (!ended_) timer_.after(interval_, [this] { measure(); });
    });
  });
}

void Gauges::show(const Measured& m) const {
  file_bytes_.set(value(m.file_bytes));
  journal_bytes_.set(value(m.journal_bytes));
  free_bytes_.set(value(m.free_bytes));
  records_.set(value(m.records));
  tombstones_.set(value(m.tombstones));
  statuses_.set(value(m.statuses));
  constexpr double ms_in_s = 1'000;
  moved_at_.set(value(m.moved_at_unix_ms) / ms_in_s);
}

}  // namespace davit::storage_sqlite
