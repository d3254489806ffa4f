#include "envelope.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <davit/v1/agent.pb.h>

namespace davit::recorder {

namespace {

constexpr std::array<std::string_view, 5> healths = {"unknown", "progressing", "healthy",
                                                     "unhealthy", "paused"};

bool known_health(std::string_view h) {
  return std::find(healths.begin(), healths.end(), h) != healths.end();
}

Error bad(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

template <class Int>
void read_number(std::string_view text, Int& out) {
  Int value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 0) out = value;
}

template <class Purpose>
void read_number(std::string_view text, Number<Purpose>& out) {
  uint64_t value = out.value();
  read_number(text, value);
  out = Number<Purpose>(value);
}

}  // namespace

Result<Status> from_wire(const v1::Status& in, const std::string& region, int64_t now_unix_ms) {
  if (in.kind().empty()) return bad("the kind is empty");
  if (in.id().empty()) return bad("the id is empty");
  if (!in.region().empty() && in.region() != region) {
    return bad("region \"" + in.region() + "\" is not the one of the call (\"" + region + "\")");
  }
  if (in.desired() < 0 || in.updated() < 0 || in.ready() < 0 || in.stale() < 0)
    return bad("a count is negative");

  Status out;
  out.key = {in.kind(), region, in.id()};
  out.gone = in.gone();
  out.observed_version = Version(in.observed_version());
  out.observed_incarnation = Incarnation(in.observed_incarnation());
  // An agent of a later version may know more words.
  out.health = known_health(in.health()) ? in.health() : "unknown";
  out.desired = in.desired();
  out.updated = in.updated();
  out.ready = in.ready();
  out.stale = in.stale();
  out.message = in.message();
  out.parked = in.parked();
  for (const auto& c : in.children()) {
    out.children.push_back({c.name(), c.address(), c.status(), c.cpu_millicores(), c.memory_mib()});
  }
  out.detail = in.detail();
  out.epoch = Epoch(in.epoch());
  out.sequence = in.sequence();
  out.reported_at_unix_ms = in.reported_at_unix_ms() == 0 ? now_unix_ms : in.reported_at_unix_ms();
  return out;
}

Progress from_wire(const v1::ProgressRequest& in, const std::string& region, int64_t now_unix_ms) {
  Progress out{region, in.agent(), in.software(), Epoch(in.epoch()),
               {},     {},         now_unix_ms,   in.sequence()};
  for (const auto& k : in.kinds()) {
    out.kinds.push_back(
        {k.kind(), {Incarnation(k.applied().incarnation()), Version(k.applied().version())}});
  }
  for (const auto& i : in.issues()) {
    out.issues.push_back({i.kind(), i.id(), i.namespace_(), i.name(), Version(i.version()),
                          i.condition(), i.reason(), Incarnation(i.incarnation())});
  }
  return out;
}

void apply_observed_header(std::string_view header, Status& status) {
  while (!header.empty()) {
    const size_t end = std::min(header.find(';'), header.size());
    const std::string_view part = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    if (name == "version") read_number(value, status.observed_version);
    if (name == "desired") read_number(value, status.desired);
    if (name == "updated") read_number(value, status.updated);
    if (name == "ready") read_number(value, status.ready);
    if (name == "stale") read_number(value, status.stale);
    if (name == "epoch") read_number(value, status.epoch);
    if (name == "sequence") read_number(value, status.sequence);
    if (name == "gone" && value == "1") status.gone = true;
    if (name == "id") status.key.id = value;
    if (name == "health" && known_health(value)) status.health = value;
  }
}

}  // namespace davit::recorder
