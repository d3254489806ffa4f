#include "status_tables.hpp"

#include <algorithm>

#include "conditions.hpp"
#include "kind_columns.hpp"
#include "output.hpp"

namespace davit::host {

namespace {

using Names = std::vector<RecordName>;

// An agent reports at least every 30 s. After three missed reports its state is unknown.
constexpr int64_t silent_after_ms = 90'000;

Tone tone_of(const v1::ObjectStatus& o) {
  const std::string& health = o.observed().health();
  if (!o.condition().empty() || health == "unhealthy") return Tone::bad;
  if (health == "healthy" && o.observed().observed_version() >= o.version()) return Tone::good;
  return Tone::middling;
}

// Nothing of the object is left in the cluster.
bool is_gone(const v1::ObjectStatus& o) {
  return !o.live() && o.observed().gone();
}

// For a record that its agent does not see, "blind" alone would omit since when; the reason says
// it.
std::string condition_of(const v1::ObjectStatus& o) {
  return o.condition() == "blind" ? o.reason() : o.condition();
}

TextTable table_of_objects(const KindColumns& columns) {
  constexpr int after = KindColumns::after_kinds;
  return TextTable(around<TextTable::Heading>({"KIND",
                                               "ID",
                                               "REGION",
                                               "STATE",
                                               {"VERSION", after + 4},
                                               {"OBSERVED", after + 3},
                                               "READY",
                                               {"UPDATED", after + 2},
                                               {"STALE", after + 1}},
                                              columns.headings(), {"HEALTH", "CONDITION"}));
}

void add_row(const v1::ObjectStatus& o, const KindColumns& columns, int64_t now, TextTable& table) {
  const auto& s = o.observed();
  const std::string of = "/" + std::to_string(s.desired());
  const bool gone = is_gone(o);
  const bool seen = o.has_observed() && !gone;
  table.row(around<TextTable::Cell>({o.kind(),
                                     o.id(),
                                     o.region(),
                                     {o.state(), o.live() ? Tone::plain : Tone::faint},
                                     std::to_string(o.version()),
                                     seen ? std::to_string(s.observed_version()) : "-",
                                     seen ? std::to_string(s.ready()) + of : "-",
                                     seen ? std::to_string(s.updated()) + of : "-",
                                     seen ? std::to_string(s.stale()) : "-"},
                                    columns.cells(seen ? s.detail() : std::string(), now),
                                    {{seen   ? s.health()
                                      : gone ? std::string(explained("gone"))
                                             : "-",
                                      gone ? Tone::faint : tone_of(o)},
                                     {condition_of(o), Tone::bad}}));
}

// True if an issue belongs to what was asked for. An issue without a kind concerns the agent
// itself.
bool asked_for(const Names& names, const v1::Issue& issue) {
  if (names.empty() || (issue.kind().empty() && !have_ids(names))) return true;
  return std::ranges::any_of(names, [&](const RecordName& name) {
    return issue.kind() == name.kind && (name.id.empty() || issue.id() == name.id);
  });
}

}  // namespace

std::string objects_table(const v1::StatusResponse& status, const Look& look) {
  const KindColumns columns(status.columns());
  TextTable table = table_of_objects(columns);
  const int64_t now = unix_ms_now();
  for (const auto& o : status.objects()) add_row(o, columns, now, table);
  return table.empty() ? "no objects\n" : table.print(look.colour, look.columns);
}

std::string agents_table(const v1::StatusResponse& status, const Look& look) {
  // The table of reasons below lists the issues that are counted here.
  TextTable table({"AGENT",
                   "REGION",
                   {"SOFTWARE", 1},
                   "SEEN",
                   "LAG",
                   "STATUSES",
                   {"PARKED", 6},
                   {"HELD", 5},
                   {"ORPHANED", 4},
                   {"BLIND", 3},
                   {"DENIED", 2}});
  const int64_t now = unix_ms_now();
  for (const auto& a : status.agents()) {
    int parked = 0;
    int held = 0;
    int orphaned = 0;
    int blind = 0;
    int denied = 0;
    bool delayed = false;
    for (const auto& i : a.issues()) {
      parked += i.condition() == explained("parked");
      held += i.condition() == explained("held");
      orphaned += i.condition() == explained("orphaned");
      blind += i.condition() == explained("blind");
      denied += i.condition() == explained("denied");
      delayed = delayed || (i.condition() == "delayed" && i.kind().empty());
    }
    auto counted = [](int n, Tone tone) {
      return TextTable::Cell(std::to_string(n), n > 0 ? tone : Tone::plain);
    };
    // An agent that was taken over is expected to be silent.
    const bool silent = now - a.seen_at_unix_ms() > silent_after_ms && !a.taken_over();
    const std::string_view statuses = a.taken_over() ? explained("taken over")
                                      : silent       ? explained("unknown")
                                      : blind > 0    ? explained("blind")
                                      : delayed      ? explained("delayed")
                                                     : explained("in time");
    table.row({a.agent(),
               a.region(),
               a.software(),
               {age(a.seen_at_unix_ms(), now) + " ago", silent ? Tone::bad : Tone::plain},
               a.taken_over() ? TextTable::Cell("-", Tone::plain)
                              : TextTable::Cell(std::to_string(a.lag()),
                                                a.lag() > 0 ? Tone::middling : Tone::good),
               {std::string(statuses), delayed || silent || blind > 0 ? Tone::bad : Tone::plain},
               counted(parked, Tone::bad),
               counted(held, Tone::middling),
               counted(orphaned, Tone::middling),
               counted(blind, Tone::bad),
               counted(denied, Tone::bad)});
  }
  return table.empty() ? "no agent has reported\n" : table.print(look.colour, look.columns);
}

std::string reasons_table(const v1::StatusResponse& status, const std::vector<RecordName>& names,
                          const Look& look) {
  TextTable table({"CONDITION", "KIND", "OBJECT", {"REGION", 2}, {"VERSION", 1}, "REASON"},
                  TextTable::Last::wrapped);
  for (const auto& r : status.regions())
    table.row({{r.condition(), Tone::bad}, "", "", r.region(), "", r.reason()});
  for (const auto& o : status.objects()) {
    const auto& seen = o.observed();
    // Other conditions come from an agent's issues, which are listed below.
    const bool own = o.condition() == "unwatched" || o.condition() == "retrying";
    if (is_gone(o) || (!own && (!o.condition().empty() || seen.message().empty()))) continue;
    table.row({{own ? o.condition() : seen.health(), tone_of(o)},
               o.kind(),
               o.id(),
               o.region(),
               std::to_string(o.version()),
               own ? o.reason() : seen.message()});
  }
  for (const auto& a : status.agents()) {
    for (const auto& i : a.issues()) {
      if (!asked_for(names, i)) continue;
      // An object without a record has no id. An issue of a whole kind, or of no kind, has only a
      // name.
      const std::string name = i.namespace_().empty() ? i.name() : i.namespace_() + "/" + i.name();
      // An orphaned object has no row above that shows its name.
      const std::string object = i.id().empty()                ? name
                                 : i.condition() == "orphaned" ? i.id() + " (" + name + ")"
                                                               : i.id();
      table.row({{i.condition(), Tone::bad},
                 i.kind(),
                 object,
                 a.region(),
                 std::to_string(i.version()),
                 i.reason()});
    }
  }
  return table.empty() ? "" : table.print(look.colour, look.columns);
}

ObjectRows::ObjectRows(const KindColumns::Columns& columns)
    : columns_(columns), table_(table_of_objects(columns_)) {}

std::string ObjectRows::print(const std::vector<v1::ObjectStatus>& objects, const Look& look) {
  const int64_t now = unix_ms_now();
  for (const auto& o : objects) add_row(o, columns_, now, table_);
  return table_.print(look.colour, look.columns);
}

}  // namespace davit::host
