// davit delete KIND ID...|KIND/ID... --region R | KIND --orphaned --region R | -f FILE|DIR [-R]
#include <cstdio>
#include <set>

#include "await_records.hpp"
#include "batch.hpp"
#include "davit.hpp"
#include "documents.hpp"
#include "named_records.hpp"
#include "operator_client.hpp"
#include "outcomes.hpp"
#include "output.hpp"
#include "record_reader.hpp"
#include "suggestions.hpp"

namespace davit::host {

namespace {

struct Target {
  v1::ObjectKey key;
  std::optional<SourceDocument> source;  // set if the key is from a file: errors name its line

  std::string fault(const v1::Outcome& o) const {
    const std::string message = with_nearest_kind(o.message());
    if (source) return source->fault(o.field(), message);
    return "davit delete: " + o.kind() + "/" + o.id() + " (" + o.region() +
           "): " + (o.field().empty() ? "" : o.field() + ": ") + message;
  }
};

// Returns the exit code of the first refusal.
Result<ExitCode> remove(OperatorClient& client, const std::vector<Target>& targets, bool dry_run,
                        Format format, v1::DeleteResponse& all) {
  ExitCode code = exit_code_done;
  for (size_t next = 0; next < targets.size();) {
    v1::DeleteRequest request;
    request.set_dry_run(dry_run);
    const size_t first = next;
    const size_t end =
        batch_end(first, targets.size(), [&](size_t i) { return targets[i].key.ByteSizeLong(); });
    for (; next < end; ++next) *request.add_keys() = targets[next].key;
    v1::DeleteResponse response;
    if (auto r = client.call("Delete", request, response); !r.ok()) return r.error();
    if (auto r = one_for_each(response.outcomes_size(), end - first); !r.ok()) return r.error();
    for (int i = 0; i < response.outcomes_size(); ++i) {
      const auto& o = response.outcomes(i);
      if (is_refused(o)) {
        if (code == exit_code_done) code = exit_code_of(o);
        tell(stderr, targets[first + static_cast<size_t>(i)].fault(o));
      } else if (format == Format::table) {
        tell(stdout, outcome_line(o, dry_run));
      } else if (format == Format::name && o.type() != v1::Outcome::TYPE_ABSENT) {
        tell(stdout, name_line(o.kind(), o.id()));
      }
      *all.add_outcomes() = o;
    }
  }
  return code;
}

v1::ObjectKey key_of(const std::string& kind, const std::string& region, const std::string& id) {
  v1::ObjectKey key;
  key.set_kind(kind);
  key.set_region(region);
  key.set_id(id);
  return key;
}

// Adds the objects of this kind that agents of the region report as orphaned and that have an id.
Result<> add_orphans(OperatorClient& client, const std::string& kind, const std::string& region,
                     std::vector<Target>& to) {
  v1::StatusRequest request;
  request.set_kind(kind);
  request.set_region(region);
  v1::StatusResponse page;
  std::set<std::string> ids;
  auto r = client.list("ListStatus", request, page, [&] {
    for (const auto& agent : page.agents()) {
      for (const auto& i : agent.issues()) {
        if (i.condition() == "orphaned" && i.kind() == kind && !i.id().empty()) ids.insert(i.id());
      }
    }
  });
  if (!r.ok()) return r;
  for (const auto& id : ids) to.push_back({key_of(kind, region, id), std::nullopt});
  return {};
}

// What is absent is no failure, but may be mistyped.
void suggest(OperatorClient& client, const v1::DeleteResponse& all, const std::string& region) {
  IdSuggestions suggestions(client, region);
  for (const auto& o : all.outcomes()) {
    if (o.type() != v1::Outcome::TYPE_ABSENT) continue;
    const RecordName name{o.kind(), o.id()};
    const std::string instead = suggestions.after(name);
    if (!instead.empty())
      tell(stderr, "davit delete: " + not_there(name, region).message + instead);
  }
}

struct DeleteOptions {
  RecordWords words;
  std::string region;
  DocumentPaths paths;
  bool orphaned = false;
  bool dry_run = false;
  bool wait = false;
  Format format = Format::table;
  ServerAddress server;
};

void require_sense(const DeleteOptions& o) {
  o.paths.require_sense();
  if (!o.paths.files.empty()) {
    if (!o.words.first.empty() || o.orphaned)
      throw UsageError("either KIND ID or -f FILE, not both");
    if (!o.region.empty())
      throw UsageError("--region is for KIND ID; a document of -f FILE has its own");
    return;
  }
  const auto names = o.words.names();
  if (names.empty() || have_ids(names) == o.orphaned)
    throw UsageError("which object? (KIND ID --region REGION, or -f FILE)");
  if (o.region.empty()) throw UsageError("--region is needed");
}

// Returns an exit code.
int await_removal(OperatorClient& client, const v1::DeleteResponse& all, const DeleteOptions& o) {
  if (!o.wait || o.dry_run) return exit_code_done;
  std::FILE* progress = o.format == Format::table ? stdout : stderr;
  return await_records(client, {all.outcomes().begin(), all.outcomes().end()},
                       {"delete", "not gone", progress, *o.server.timeout});
}

int remove(DeleteOptions& o) {
  require_sense(o);
  if (o.wait && !o.server.timeout) o.server.timeout = wait_timeout;
  std::vector<Target> targets;
  bool good = true;
  if (!o.paths.files.empty()) {
    Documents documents = read_documents(o.paths, true);
    for (const auto& fault : documents.faults) tell(stderr, fault);
    good = documents.faults.empty();
    if (good && documents.good.empty())
      tell(stderr, "davit delete: there is no document in what was given");
    for (auto& d : documents.good) {
      targets.push_back(
          {key_of(d.document.kind(), d.document.region(), d.document.id()), std::move(d)});
    }
  } else if (!o.orphaned) {
    for (const RecordName& name : o.words.names())
      targets.push_back({key_of(name.kind, o.region, name.id), std::nullopt});
  }
  if (targets.empty() && !o.orphaned) return exit_code_refused;

  auto client = OperatorClient::open(o.server);
  if (!client.ok()) return not_usable("delete", client.error());
  if (o.orphaned) {
    if (auto r = add_orphans(*client, o.words.first, o.region, targets); !r.ok())
      return failed("delete", r.error());
    if (targets.empty() && o.format == Format::table) std::puts("nothing is orphaned");
  }
  v1::DeleteResponse all;
  auto removed = remove(*client, targets, o.dry_run, o.format, all);
  if (is_document(o.format)) print(to_json(all), o.format);
  if (!removed.ok()) return failed("delete", removed.error());
  std::fflush(stdout);
  if (o.paths.files.empty() && !o.orphaned) suggest(*client, all, o.region);
  const int waited = await_removal(*client, all, o);
  if (!good) return exit_code_refused;
  return *removed != exit_code_done ? *removed : waited;
}

}  // namespace

CommandPtr delete_command() {
  auto o = std::make_shared<DeleteOptions>();
  auto command = std::make_shared<Command>(
      "delete", "KIND ID...|KIND/ID...|KIND --orphaned --region R | -f FILE|DIR [-R]",
      "delete from the desired state", [o] { return remove(*o); });
  o->words.add_words(*command);
  command->option("-r,--region", "R", o->region, "where the records belong");
  o->paths.add_options(*command, "the records of these documents");
  command->flag("--orphaned", o->orphaned,
                "what the region's agents show as orphaned, instead of an ID");
  command->flag("--dry-run", o->dry_run, "say what would be deleted, and delete nothing");
  command->flag("--wait", o->wait,
                "wait until agents have removed all of it or cannot; 60s without --timeout");
  add_format(*command, o->format, "how it is printed", {Format::name});
  o->server.add_options(*command);
  command->examples({"davit delete deployment d_web d_shop --region eu-1",
                     "davit delete deployment --orphaned --region eu-1 --dry-run",
                     "davit delete -f shop.yaml --wait --timeout 5m"});
  return command;
}

}  // namespace davit::host
