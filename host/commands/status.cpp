// davit status [KIND [ID]] [--region R]
#include <algorithm>
#include <cstdio>
#include <tuple>

#include <boost/json/parse.hpp>

#include <davit/v1/operator.pb.h>

#include "conditions.hpp"
#include "davit.hpp"
#include "kind_columns.hpp"
#include "operator_client.hpp"
#include "output.hpp"
#include "text_table.hpp"

namespace davit::host {

namespace {

namespace json = boost::json;

// An agent reports at least every 30 s. After three missed reports its state is unknown.
constexpr int64_t silent_after_ms = 90'000;

// Properties of the terminal.
struct Look {
  bool colour;
  size_t columns;
};

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

std::string objects(const v1::StatusResponse& status, const Look& look) {
  constexpr int after = KindColumns::after_kinds;
  const KindColumns columns(status.columns());
  TextTable table(around<TextTable::Heading>({"KIND",
                                              "ID",
                                              "REGION",
                                              "STATE",
                                              {"VERSION", after + 4},
                                              {"OBSERVED", after + 3},
                                              "READY",
                                              {"UPDATED", after + 2},
                                              {"STALE", after + 1}},
                                             columns.headings(), {"HEALTH", "CONDITION"}));
  const int64_t now = unix_ms_now();
  for (const auto& o : status.objects()) {
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
  return table.empty() ? "no objects\n" : table.print(look.colour, look.columns);
}

std::string agents(const v1::StatusResponse& status, const Look& look) {
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

// True if an issue belongs to what the request names. An issue without a kind concerns the agent
// itself.
bool asked_for(const v1::StatusRequest& request, const v1::Issue& issue) {
  if (!request.id().empty()) return issue.kind() == request.kind() && issue.id() == request.id();
  return request.kind().empty() || issue.kind().empty() || issue.kind() == request.kind();
}

// True if anything of the requested object exists: its record, or an issue of an agent.
bool is_there(const v1::StatusResponse& status, const v1::StatusRequest& request) {
  const auto of_it = [&](const auto& agent) {
    return std::any_of(agent.issues().begin(), agent.issues().end(),
                       [&](const auto& issue) { return asked_for(request, issue); });
  };
  return status.objects_size() > 0 ||
         std::any_of(status.agents().begin(), status.agents().end(), of_it);
}

// The reasons why something is not as it should be: what agents report of records and objects, and
// of the changes that they still try to make.
std::string reasons(const v1::StatusResponse& status, const v1::StatusRequest& request,
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
      if (!asked_for(request, i)) continue;
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

// Reads the status in pages if the server supports them, so that the server need not hold the whole
// answer.
Result<> ask(OperatorClient& client, const v1::StatusRequest& request, v1::StatusResponse& all) {
  v1::StatusResponse page;
  auto& objects = *all.mutable_objects();
  auto r = client.list("ListStatus", request, page, [&] {
    for (auto& object : *page.mutable_objects()) objects.Add()->Swap(&object);
    page.clear_objects();
    all.MergeFrom(page);
  });
  if (!r.ok() && r.error().code == Code::unimplemented) return client.call("Status", request, all);
  std::sort(objects.pointer_begin(), objects.pointer_end(), [](const auto* a, const auto* b) {
    return std::tie(a->kind(), a->region(), a->id()) < std::tie(b->kind(), b->region(), b->id());
  });
  return r;
}

// The detail of a status is JSON in a text. It becomes a part of the answer.
json::value document_of(const v1::StatusResponse& response) {
  json::value out = to_json(response);
  auto* objects = out.is_object() ? out.get_object().if_contains("objects") : nullptr;
  if (objects == nullptr || !objects->is_array()) return out;
  for (json::value& object : objects->get_array()) {
    json::error_code error;
    json::value* detail = object.find_pointer("/observed/detail", error);
    if (detail == nullptr || !detail->is_string()) continue;
    json::value nested = json::parse(detail->get_string(), error);
    if (!error) *detail = std::move(nested);
  }
  return out;
}

struct StatusOptions {
  ServerAddress server;
  Format format = Format::table;
  std::string kind, id, region;
};

int status(const StatusOptions& options) {
  v1::StatusRequest request;
  request.set_kind(options.kind);
  request.set_id(options.id);
  request.set_region(options.region);
  auto client = OperatorClient::open(options.server);
  if (!client.ok()) return not_usable("status", client.error());
  v1::StatusResponse response;
  if (auto r = ask(*client, request, response); !r.ok()) return failed("status", r.error());
  if (options.format != Format::table) {
    print(document_of(response), options.format);
    return 0;
  }
  if (!request.id().empty() && !is_there(response, request)) {
    return failed("status",
                  {Code::not_found, "no " + request.kind() + " \"" + request.id() + "\""});
  }
  const Look look{use_colour(), terminal_columns()};
  const std::string troubles = reasons(response, request, look);
  std::printf("%s\n%s", objects(response, look).c_str(), agents(response, look).c_str());
  if (!troubles.empty()) std::printf("\n%s", troubles.c_str());
  return 0;
}

}  // namespace

CommandPtr status_command() {
  auto options = std::make_shared<StatusOptions>();
  auto command = std::make_shared<Command>("status", "[KIND [ID]] [-o table|json|yaml]",
                                           "show desired beside observed state",
                                           [options] { return status(*options); });
  command->word("KIND", options->kind, "of this kind only");
  command->word("ID", options->id, "of this record only");
  command->option("-r,--region", "R", options->region, "of this region only");
  add_format(*command, options->format);
  options->server.add_options(*command);
  command->examples({"davit status", "davit status deployment d_web -r eu-1"});
  return command;
}

}  // namespace davit::host
