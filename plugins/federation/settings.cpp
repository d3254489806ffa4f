#include "settings.hpp"

#include <algorithm>

namespace davit::federation {
namespace {

// One [[plugin.NAME.resource]].
Rules read_resource(const Settings& s, const Site& site) {
  Rules r;
  r.resource = {s.string("group", ""), s.string("version"), s.string("resource")};
  r.name = r.resource.resource + (r.resource.group.empty() ? "" : "." + r.resource.group);
  r.namespaced = s.boolean("namespaced", true);
  r.selector = s.string("selector", "");
  r.fields = s.strings("fields", r.fields);
  r.subtree = s.string("status_subtree", "");
  r.adopt = s.boolean("adopt", false);
  r.map_generation = site.map_generation;
  r.match_uid = site.match_uid;
  const std::string direction = s.string("direction", "down");
  if (direction != "down" && direction != "up") s.reject("direction", "must be \"down\" or \"up\"");
  r.swapped = direction == "up";
  const std::string status = s.string("status", "none");
  if (status == "none") {
    r.status = StatusWrite::none;
  } else if (status == "subresource") {
    r.status = StatusWrite::subresource;
  } else if (status == "field") {
    r.status = StatusWrite::whole;
  } else {
    s.reject("status", "must be \"none\", \"subresource\" or \"field\"");
  }
  for (const std::string& field : r.fields) {
    if (field == "metadata" || field == "status" || field == "apiVersion" || field == "kind")
      s.reject("fields", "\"" + field + "\" cannot be one of them");
  }
  if (r.resource.version.empty()) s.reject("version", "must not be empty");
  if (r.resource.resource.empty()) s.reject("resource", "must not be empty");
  return r;
}

}  // namespace

Configuration read_configuration(const Settings& s) {
  Configuration c;
  c.upstream = s.string("upstream");
  c.downstream = s.string("downstream");
  if (!c.upstream.empty() && c.upstream == c.downstream)
    s.reject("downstream", "must be another instance than upstream");
  c.site.robot_name = s.string("robot_name", "");
  const std::string generation = s.string("observed_generation", "map");
  if (generation != "map" && generation != "copy")
    s.reject("observed_generation", "must be \"map\" or \"copy\"");
  c.site.map_generation = generation == "map";
  c.site.match_uid = s.boolean("match_uid", true);
  c.definitions = s.string("definitions", c.definitions);
  if (c.definitions != "upstream" && c.definitions != "downstream" && c.definitions != "none")
    s.reject("definitions", "must be \"downstream\", \"upstream\" or \"none\"");
  c.namespaces = s.strings("namespaces");
  std::ranges::sort(c.namespaces);
  c.namespaces.erase(std::unique(c.namespaces.begin(), c.namespaces.end()), c.namespaces.end());
  auto& queue = c.limits.queue;
  queue.concurrency_max = static_cast<size_t>(s.integer("concurrency_max", 16, 1, 1'000));
  queue.retry.first = s.milliseconds("retry_first_ms", queue.retry.first, 1);
  queue.retry.most = s.milliseconds("retry_most_ms", queue.retry.most, 1);
  if (queue.retry.most < queue.retry.first)
    s.reject("retry_most_ms", "must not be below retry_first_ms");
  c.limits.request_timeout = s.milliseconds("request_timeout_ms", c.limits.request_timeout, 1);
  c.limits.watch_credit = static_cast<uint32_t>(s.integer("watch_credit", 256, 1, 65'536));
  c.claim_namespace = s.string("claim_namespace", c.claim_namespace);
  GuardLimits& guard = c.limits.guard;
  guard.deletes_max = static_cast<size_t>(s.integer("deletes_max", 10, 0, 1'000'000));
  guard.deletes_max_percent = static_cast<size_t>(s.integer("deletes_max_percent", 50, 0, 100));
  for (const Settings& table : s.tables("resource")) {
    Rules rules = read_resource(table, c.site);
    const auto same = [&](const Rules& other) { return other.name == rules.name; };
    if (std::ranges::any_of(c.resources, same))
      table.reject("resource", "\"" + rules.name + "\" is named twice");
    c.resources.push_back(std::move(rules));
  }
  return c;
}

}  // namespace davit::federation
