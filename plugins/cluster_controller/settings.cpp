#include "settings.hpp"

#include <set>

namespace davit::clusters {

namespace {

void read_actuators(const Settings& s, Configuration& c) {
  std::set<std::string> instances, groups;
  // Who builds what no other provider names.
  if (std::string actuator = s.string("actuator", ""); !actuator.empty()) {
    instances.insert(actuator);
    c.providers.push_back({std::move(actuator), {}});
  }
  bool others = !c.providers.empty();
  for (const Settings& table : s.tables("provider")) {
    Provider p{table.string("instance"), table.strings("groups")};
    if (p.instance.empty()) table.reject("instance", "must not be empty");
    if (!instances.insert(p.instance).second)
      table.reject("instance", "\"" + p.instance + "\" is named twice");
    for (const std::string& group : p.groups) {
      if (!groups.insert(group).second)
        table.reject("groups", "\"" + group + "\" is another provider's already");
    }
    if (p.groups.empty() && std::exchange(others, true))
      table.reject("groups", "must not be empty: another provider has all other groups already");
    c.providers.push_back(std::move(p));
  }
  if (c.providers.empty())
    s.reject("actuator", "must name an actuator, or [[plugin.NAME.provider]] must");
  c.addons = s.strings("addons");
  for (const std::string& addon : c.addons) {
    if (!instances.insert(addon).second) s.reject("addons", "\"" + addon + "\" is named twice");
  }
}

}  // namespace

Configuration read_configuration(const Settings& s) {
  Configuration c;
  c.cluster = s.string("cluster");
  c.ns = s.string("namespace", "");
  read_actuators(s, c);
  c.children_first = s.boolean("children_first", c.children_first);
  c.conflict_retries = static_cast<size_t>(s.integer("conflict_retries", 0, 0, 100));
  Limits& l = c.limits;
  l.queue.concurrency_max = static_cast<size_t>(s.integer("workers", 10, 1, 1'000));
  l.queue.retry = {std::chrono::milliseconds(5), std::chrono::milliseconds(1'000'000)};
  l.queue.retry.first = s.milliseconds("retry_first_ms", l.queue.retry.first, 1);
  l.queue.retry.most = s.milliseconds("retry_most_ms", l.queue.retry.most, 1);
  if (l.queue.retry.most < l.queue.retry.first)
    s.reject("retry_most_ms", "must not be below retry_first_ms");
  l.retries.bytes_per_second = static_cast<size_t>(s.integer("retries_per_second", 10, 1, 10'000));
  l.retries.burst_bytes = static_cast<size_t>(s.integer("retries_burst", 100, 1, 10'000));
  l.call_timeout = s.milliseconds("call_timeout_ms", l.call_timeout, 1);
  l.request_timeout = s.milliseconds("request_timeout_ms", l.request_timeout, 1);
  l.resync = s.milliseconds("resync_ms", l.resync, 1'000);
  l.watch_credit = static_cast<uint32_t>(s.integer("watch_credit", 256, 1, 65'536));
  return c;
}

}  // namespace davit::clusters
