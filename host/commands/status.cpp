// davit status [KIND [ID...] | KIND/ID...] [--region R]
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>
#include <tuple>

#include <boost/json/parse.hpp>

#include <davit/v1/operator.pb.h>

#include "davit.hpp"
#include "exit_codes.hpp"
#include "federation_status.hpp"
#include "named_records.hpp"
#include "operator_client.hpp"
#include "output.hpp"
#include "status_tables.hpp"
#include "status_watch.hpp"
#include "suggestions.hpp"
#include "text_table.hpp"

namespace davit::host {

namespace {

namespace json = boost::json;

using Names = std::vector<RecordName>;

// True if anything of the object exists: its record, or an issue of an agent.
bool has_record(const v1::StatusResponse& status, const RecordName& name) {
  const auto is_it = [&](const auto& of) { return of.kind() == name.kind && of.id() == name.id; };
  return std::ranges::any_of(status.objects(), is_it) ||
         std::ranges::any_of(status.agents(), [&](const auto& agent) {
           return std::ranges::any_of(agent.issues(), is_it);
         });
}

// The narrowest request that covers all names.
v1::StatusRequest request_for(const Names& names, const std::string& region) {
  v1::StatusRequest out;
  out.set_kind(common_kind(names));
  out.set_region(region);
  if (names.size() == 1) out.set_id(names.front().id);
  return out;
}

// Leaves the objects that were asked for.
void keep(const Names& names, const std::string& ns, v1::StatusResponse& status) {
  const bool all = !have_ids(names);
  const std::set<RecordName> kept(names.begin(), names.end());
  auto& objects = *status.mutable_objects();
  const auto end = std::remove_if(objects.begin(), objects.end(), [&](const auto& o) {
    return (!all && !kept.contains({o.kind(), o.id()})) || (!ns.empty() && o.namespace_() != ns);
  });
  objects.erase(end, objects.end());
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

json::value document_of(const v1::StatusResponse& response) {
  json::value out = to_json(response);
  auto* objects = out.is_object() ? out.get_object().if_contains("objects") : nullptr;
  if (objects == nullptr || !objects->is_array()) return out;
  for (json::value& object : objects->get_array()) unfold_detail(object);
  return out;
}

struct StatusOptions {
  RecordWords words;
  std::string region, ns;
  bool watch = false;
  JsonPath path;
  Format format = Format::table;
  ServerAddress server;
};

// A process of federation has no records, and another status. nullopt: the server is none.
std::optional<int> federation(OperatorClient& client, const Names& names, Format format) {
  if (names.size() > 1) return std::nullopt;
  const RecordName name = names.empty() ? RecordName{} : names.front();
  return show_federation(client, "status", {name.kind, name.id, !name.kind.empty()}, format);
}

void print_tables(const v1::StatusResponse& response, const Names& names, Format format) {
  const Look look{use_colour(), table_room(format)};
  const std::string troubles = reasons_table(response, names, look);
  std::printf("%s\n%s", objects_table(response, look).c_str(),
              agents_table(response, look).c_str());
  if (!troubles.empty()) std::printf("\n%s", troubles.c_str());
}

int status(const StatusOptions& options) {
  const Names names = options.words.names();
  if (options.watch && options.format == Format::jsonpath)
    throw UsageError("-o jsonpath prints no changes: --watch with -o json prints one a line");
  auto client = OperatorClient::open(options.server);
  if (!client.ok()) return not_usable("status", client.error());
  if (options.watch) {
    const auto keep_asked = [&](v1::StatusResponse& r) { keep(names, options.ns, r); };
    return watch_status(*client, request_for(names, options.region), keep_asked, options.format);
  }
  v1::StatusResponse response;
  if (auto r = ask(*client, request_for(names, options.region), response); !r.ok()) {
    if (r.error().code == Code::unimplemented) {
      if (auto code = federation(*client, names, options.format)) return *code;
    }
    return failed("status", r.error());
  }
  keep(names, options.ns, response);
  Names absent;
  if (have_ids(names)) {
    std::ranges::copy_if(names, std::back_inserter(absent),
                         [&](const RecordName& name) { return !has_record(response, name); });
  }
  int code = exit_code_done;
  if (options.format == Format::jsonpath) {
    code = print(document_of(response), options.path, "status");
  } else if (is_document(options.format)) {
    print(document_of(response), options.format);
  } else if (names.empty() || absent.size() < names.size()) {
    print_tables(response, names, options.format);
  }
  std::fflush(stdout);
  IdSuggestions suggestions(*client, options.region);
  for (const RecordName& name : absent) {
    failed("status",
           {Code::not_found, "no " + name.kind + " \"" + name.id + "\"" + suggestions.after(name)});
  }
  if (code != exit_code_done) return code;
  return absent.empty() ? exit_code_done : exit_code_not_found;
}

}  // namespace

CommandPtr status_command() {
  auto options = std::make_shared<StatusOptions>();
  auto command = std::make_shared<Command>("status", "[KIND [ID...] | KIND/ID...] [-o FORMAT]",
                                           "show desired beside observed state",
                                           [options] { return status(*options); });
  options->words.add_words(*command);
  command->option("-r,--region", "R", options->region, "of this region only");
  command->option("-n,--namespace", "NS", options->ns,
                  "objects of this Kubernetes namespace only; records have no labels to select by");
  command->no_option("-l,--selector", no_labels);
  command->flag("-w,--watch", options->watch,
                "then print an object again whenever its status changes; reconnects when the "
                "server was away");
  add_format(*command, options->format, "how it is printed", {Format::wide}, &options->path);
  options->server.add_options(*command);
  command->examples({"davit status", "davit status --watch",
                     "davit status deployment d_web -r eu-1",
                     "davit status deployment/d_web deployment/d_shop"});
  return command;
}

}  // namespace davit::host
