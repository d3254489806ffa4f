// Measures the database at intervals and shows the result as metrics. It uses a timer of its own
// and the instance's pool, so no call waits for it.
#pragma once

#include <memory>

#include "davit/outstanding.hpp"
#include "measure.hpp"

namespace davit::storage_sqlite {

class Database;

class Gauges {
 public:
  // interval 0: nothing is measured. The owner waits for `outstanding` after end(), before it
  // destroys this object.
  Gauges(const Host& host, std::chrono::milliseconds interval, Outstanding& outstanding);
  // Measures at once, and again when the interval has passed since the last measurement ended.
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
  std::weak_ptr<Database> database_;  // begin() sets these two
  bool begun_ = false;
  // Used on the strand only.
  Strand strand_;
  Timer timer_;
  bool ended_ = false;
};

}  // namespace davit::storage_sqlite
