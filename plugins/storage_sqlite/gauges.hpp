// Shows as metrics what is measured of the database, again and again: on a timer of its own and on
// the instance's pool, so that no call waits for it.
#pragma once

#include <memory>

#include "davit/outstanding.hpp"
#include "measure.hpp"

namespace davit::storage_sqlite {

class Database;

class Gauges {
 public:
  // interval 0: nothing is measured. `outstanding` is waited for after end() and before this goes.
  Gauges(const Host& host, std::chrono::milliseconds interval, Outstanding& outstanding);
  // Measures at once, then each time the interval has passed since the last was done.
  void begin(std::weak_ptr<Database> database);
  void end();

 private:
  void measure();
  void show(const Measured& measured) const;

  const Host host_;
  const std::chrono::milliseconds interval_;
  Outstanding& outstanding_;
  const Metric file_bytes_, journal_bytes_, free_bytes_;
  const Metric records_, tombstones_, statuses_, moved_at_;
  std::weak_ptr<Database> database_;  // these two change in begin() only
  bool begun_ = false;
  // On the strand.
  Strand strand_;
  Timer timer_;
  bool ended_ = false;
};

}  // namespace davit::storage_sqlite
