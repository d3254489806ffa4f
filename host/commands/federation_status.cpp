#include "federation_status.hpp"

#include <algorithm>
#include <cstdio>

#include <davit/v1/federation.pb.h>

#include "text_table.hpp"

namespace davit::host {
namespace {

// Of each resource. The answer says how many more there are.
constexpr uint32_t objects_max = 1000;

std::string age_of(int64_t ms) {
  return age(0, ms);
}

// "3 (5m)": so many objects, and the age of the oldest.
TextTable::Cell count_of(const v1::FederatedResource& resource, const char* standing, Tone tone) {
  for (const auto& count : resource.counts()) {
    if (count.standing() != standing || count.objects() == 0) continue;
    const bool aged = count.age_ms() > 0 && tone != Tone::good;
    return {std::to_string(count.objects()) + (aged ? " (" + age_of(count.age_ms()) + ")" : ""),
            tone};
  }
  return {"0", Tone::plain};
}

std::string name_of(const v1::FederatedResource& resource) {
  return resource.namespace_().empty() ? resource.resource()
                                       : resource.resource() + " in " + resource.namespace_();
}

std::string resources(const v1::FederationStatusResponse& status, size_t room) {
  TextTable table({"RESOURCE",
                   {"VERSION", 3},
                   {"WAY", 2},
                   "IN STEP",
                   "AHEAD",
                   "BEHIND",
                   "CONFLICTING",
                   "STUCK",
                   {"FINALIZER", 4},
                   "HELD",
                   "UNKNOWN",
                   {"NOT OURS", 1}});
  for (const auto& r : status.resources()) {
    table.row({name_of(r), r.version(),
               r.upstream().instance() + " to " + r.downstream().instance(),
               count_of(r, "in_step", Tone::good), count_of(r, "ahead", Tone::middling),
               count_of(r, "behind", Tone::middling), count_of(r, "conflicting", Tone::bad),
               count_of(r, "stuck", Tone::bad), count_of(r, "finalizer", Tone::middling),
               count_of(r, "held", Tone::bad), count_of(r, "unknown", Tone::bad),
               count_of(r, "not_ours", Tone::faint)});
  }
  if (table.empty()) return "no resource takes part\n";
  return table.print(use_colour(), room);
}

std::string objects(const v1::FederationStatusResponse& status, size_t room) {
  TextTable table({"STANDING", {"RESOURCE", 1}, "OBJECT", "AGE", {"WRITE", 2}, "REASON"},
                  TextTable::Last::wrapped);
  for (const auto& r : status.resources()) {
    for (const auto& o : r.objects()) {
      const bool fine = o.standing() == "in_step";
      table.row({{o.standing(), fine ? Tone::good : Tone::middling},
                 r.resource(),
                 o.namespace_().empty() ? o.name() : o.namespace_() + "/" + o.name(),
                 fine ? "-" : age_of(o.age_ms()),
                 o.write().empty() ? "-" : o.write(),
                 o.reason()});
    }
  }
  std::string out = table.empty() ? "" : table.print(use_colour(), room);
  for (const auto& r : status.resources()) {
    if (r.objects_left_out() > 0 && !out.empty())
      out += "and " + std::to_string(r.objects_left_out()) + " more of " + name_of(r) + "\n";
  }
  return out;
}

std::string troubles(const v1::FederationStatusResponse& status, size_t room) {
  TextTable table({"WRONG", "REASON"}, TextTable::Last::wrapped);
  for (const auto& fault : status.faults())
    table.row({{harmless(fault.of()), Tone::bad}, harmless(fault.reason())});
  for (const auto& r : status.resources()) {
    // A trouble begins with the name of its resource.
    const std::string begin = name_of(r) + ": ";
    const std::string& text = r.trouble();
    if (text.empty()) continue;
    table.row(
        {{name_of(r), Tone::bad}, text.starts_with(begin) ? text.substr(begin.size()) : text});
  }
  if (table.empty() && !status.health().empty())
    table.row({{status.instance(), Tone::bad}, status.health()});
  return table.empty() ? "" : table.print(use_colour(), room);
}

std::string side(const v1::FederationSide& side) {
  return side.instance() + " (" + (side.cluster().empty() ? "unknown" : side.cluster()) + ")";
}

}  // namespace

std::optional<int> show_federation(OperatorClient& client, const std::string& command,
                                   const FederationQuestion& question, Format format) {
  v1::FederationStatusRequest request;
  request.set_resource(question.resource);
  request.set_object(question.object);
  if (question.objects) request.set_objects_max(objects_max);
  v1::FederationStatusResponse status;
  if (auto r = client.call("FederationService/Status", request, status); !r.ok()) {
    if (r.error().code == Code::unimplemented) return std::nullopt;
    return failed(command, r.error());
  }
  if (is_document(format)) {
    print(to_json(status), format);
    return 0;
  }
  const bool found =
      std::ranges::any_of(status.resources(), [](const auto& r) { return r.objects_size() > 0; });
  if (!question.object.empty() && !found) {
    return failed(command,
                  {Code::not_found, "no " + question.resource + " \"" + question.object + "\""});
  }
  const std::string name = status.robot_name().empty() ? status.instance() : status.robot_name();
  const size_t room = table_room(format);
  std::string text = name + ": upstream " + side(status.upstream()) + ", downstream " +
                     side(status.downstream()) + "\n";
  text += "\n" + resources(status, room);
  if (const std::string named = objects(status, room); !named.empty()) text += "\n" + named;
  if (const std::string wrong = troubles(status, room); !wrong.empty()) text += "\n" + wrong;
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace davit::host
