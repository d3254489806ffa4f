// davit delete KIND ID --region R | KIND --orphaned --region R | -f FILE
#include <cstdio>
#include <set>

#include "batch.hpp"
#include "davit.hpp"
#include "documents.hpp"
#include "operator_client.hpp"
#include "outcomes.hpp"
#include "output.hpp"

namespace davit::host {

namespace {

struct Target {
  v1::ObjectKey key;
  std::optional<SourceDocument> source;  // set if the key is from a file: errors name its line

  std::string fault(const v1::Outcome& o) const {
    if (source) return source->fault(o.field(), o.message());
    return "davit delete: " + o.kind() + "/" + o.id() + " (" + o.region() +
           "): " + (o.field().empty() ? "" : o.field() + ": ") + o.message();
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

struct DeleteOptions {
  std::string kind, id, region;
  std::vector<std::string> files;
  bool orphaned = false;
  bool dry_run = false;
  Format format = Format::table;
  ServerAddress server;
};

void require_sense(const DeleteOptions& o) {
  if (!o.files.empty()) {
    if (!o.kind.empty() || o.orphaned) throw UsageError("either KIND ID or -f FILE, not both");
    if (!o.region.empty())
      throw UsageError("--region is for KIND ID; a document of -f FILE has its own");
    return;
  }
  if (o.kind.empty() || o.id.empty() != o.orphaned)
    throw UsageError("which object? (KIND ID --region REGION, or -f FILE)");
  if (o.region.empty()) throw UsageError("--region is needed");
}

int remove(const DeleteOptions& o) {
  require_sense(o);
  std::vector<Target> targets;
  bool good = true;
  if (!o.files.empty()) {
    Documents documents = read_documents(o.files, true);
    for (const auto& fault : documents.faults) tell(stderr, fault);
    good = documents.faults.empty();
    if (good && documents.good.empty())
      tell(stderr, "davit delete: there is no document in what was given");
    for (auto& d : documents.good) {
      targets.push_back(
          {key_of(d.document.kind(), d.document.region(), d.document.id()), std::move(d)});
    }
  } else if (!o.orphaned) {
    targets.push_back({key_of(o.kind, o.region, o.id), std::nullopt});
  }
  if (targets.empty() && !o.orphaned) return exit_code_refused;

  auto client = OperatorClient::open(o.server);
  if (!client.ok()) return not_usable("delete", client.error());
  if (o.orphaned) {
    if (auto r = add_orphans(*client, o.kind, o.region, targets); !r.ok())
      return failed("delete", r.error());
    if (targets.empty() && o.format == Format::table) std::puts("nothing is orphaned");
  }
  v1::DeleteResponse all;
  auto removed = remove(*client, targets, o.dry_run, o.format, all);
  if (o.format != Format::table) print(to_json(all), o.format);
  if (!removed.ok()) return failed("delete", removed.error());
  return good ? *removed : exit_code_refused;
}

}  // namespace

CommandPtr delete_command() {
  auto o = std::make_shared<DeleteOptions>();
  auto command =
      std::make_shared<Command>("delete", "KIND ID|--orphaned --region R | -f FILE",
                                "delete from the desired state", [o] { return remove(*o); });
  command->word("KIND", o->kind, "the record's kind");
  command->word("ID", o->id, "its id");
  command->option("-r,--region", "R", o->region, "where the record belongs");
  command->options("-f,--file", "FILE", o->files,
                   "the records of these documents; - is standard input");
  command->flag("--orphaned", o->orphaned,
                "what the region's agents show as orphaned, instead of an ID");
  command->flag("--dry-run", o->dry_run, "say what would be deleted, and delete nothing");
  add_format(*command, o->format);
  o->server.add_options(*command);
  command->examples({"davit delete deployment d_web --region eu-1",
                     "davit delete deployment --orphaned --region eu-1 --dry-run",
                     "davit delete -f shop.yaml"});
  return command;
}

}  // namespace davit::host
