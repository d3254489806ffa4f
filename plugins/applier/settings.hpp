// The applier's settings. README.md explains them. They are read once, in the plugin's constructor.
#pragma once

#include <davit/backoff.hpp>
#include <davit/settings.hpp>

#include "parking.hpp"
#include "prune.hpp"
#include "repairs.hpp"

namespace davit::applier {

struct Rules {
  std::string field_manager = "krane";
  bool force = true;
  bool adopt = true;
  size_t concurrency_max = 64;
  size_t inbox_max = 1024;
  uint32_t watch_credit = 256;
  Backoff::Limits retry;
  std::chrono::milliseconds request_timeout{30'000};
  std::chrono::milliseconds resync_interval{60'000};
  std::chrono::milliseconds sync_wait{5'000};
  std::chrono::milliseconds blind_after{30'000};
  std::chrono::milliseconds access_review_interval{300'000};  // 0: never asked
  std::chrono::milliseconds rest{50};
  std::chrono::milliseconds slow_after{2'000};
  size_t events_per_minute = 60;  // 0: none are written
  PruneRules prune;
  Repairs::Limits repairs;
  Parking::Limits parking;
};

inline Rules read_rules(const Settings& s) {
  Rules r;
  r.field_manager = s.string("field_manager", r.field_manager);
  r.force = s.boolean("force", r.force);
  r.adopt = s.boolean("adopt", r.adopt);
  r.concurrency_max = static_cast<size_t>(s.integer("concurrency_max", 64, 1, 1'000));
  r.inbox_max = static_cast<size_t>(s.integer("inbox_max", 1024, 1, 1'000'000));
  r.watch_credit = static_cast<uint32_t>(s.integer("watch_credit", 256, 1, 65'536));
  r.retry.first = s.milliseconds("retry_first_ms", r.retry.first, 1);
  r.retry.most = s.milliseconds("retry_most_ms", r.retry.most, 1);
  r.request_timeout = s.milliseconds("request_timeout_ms", r.request_timeout, 1);
  r.resync_interval = s.milliseconds("resync_interval_ms", r.resync_interval, 1);
  r.parking.retry = s.milliseconds("parked_retry_ms", r.parking.retry, 1);
  r.sync_wait = s.milliseconds("sync_wait_ms", r.sync_wait, 0);
  r.blind_after = s.milliseconds("blind_after_ms", r.blind_after, 1);
  r.access_review_interval =
      s.milliseconds("access_review_interval_ms", r.access_review_interval, 0);
  r.rest = s.milliseconds("rest_ms", r.rest, 0);
  r.slow_after = s.milliseconds("slow_after_ms", r.slow_after, 1);
  r.events_per_minute = static_cast<size_t>(s.integer("events_per_minute", 60, 0, 6'000));
  r.prune.on_close = s.boolean("prune_on_close", r.prune.on_close);
  r.prune.share_max_percent =
      static_cast<uint64_t>(s.integer("prune_share_max_percent", 50, 0, 100));
  r.prune.always_allowed = static_cast<uint64_t>(s.integer("prune_always_allowed", 10, 0));
  r.repairs.wait.first = s.milliseconds("repair_first_ms", r.repairs.wait.first, 1);
  r.repairs.wait.most = s.milliseconds("repair_most_ms", r.repairs.wait.most, 1);
  r.repairs.quiet = s.milliseconds("repair_quiet_ms", r.repairs.quiet, 1);
  r.repairs.warn_after = static_cast<uint32_t>(s.integer("repair_warn_after", 5, 1, 1'000'000));
  r.parking.right_patience = s.milliseconds("right_patience_ms", r.parking.right_patience, 0);
  r.parking.settle = r.repairs.wait;
  if (r.field_manager.empty()) s.reject("field_manager", "must not be empty");
  if (r.retry.most < r.retry.first) s.reject("retry_most_ms", "must not be below retry_first_ms");
  if (r.repairs.wait.most < r.repairs.wait.first)
    s.reject("repair_most_ms", "must not be below repair_first_ms");
  return r;
}

}  // namespace davit::applier
