// davit delete KIND ID --region R | KIND --orphaned --region R | -f FILE
#include <cstdio>
#include <set>

#include "batch.hpp"
#include "documents.hpp"
#include "operator_client.hpp"
#include "outcomes.hpp"
#include "output.hpp"
#include "table.hpp"

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
      if (o.outcome() == "refused") {
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

}  // namespace

int run_delete(Arguments arguments) {
  const std::string region = arguments.option("--region", "-r").value_or("");
  const std::vector<std::string> files = arguments.options("-f", "--file");
  const bool orphaned = arguments.flag("--orphaned");
  const bool dry_run = arguments.flag("--dry-run");
  auto format = format_of(arguments);
  if (!format) return usage_error("delete", "-o must be table, json or yaml");
  const ServerAddress address = ServerAddress::from(arguments);
  if (auto bad = arguments.unknown()) return usage_error("delete", *bad);
  const std::vector<std::string> words = arguments.rest();

  std::vector<Target> targets;
  bool good = true;
  if (!files.empty()) {
    if (!words.empty() || orphaned)
      return usage_error("delete", "either KIND ID or -f FILE, not both");
    if (!region.empty())
      return usage_error("delete", "--region is for KIND ID; a document of -f FILE has its own");
    Documents documents = read_documents(files, true);
    for (const auto& fault : documents.faults) tell(stderr, fault);
    good = documents.faults.empty();
    if (good && documents.good.empty())
      tell(stderr, "davit delete: there is no document in what was given");
    for (auto& d : documents.good) {
      targets.push_back(
          {key_of(d.document.kind(), d.document.region(), d.document.id()), std::move(d)});
    }
  } else {
    if (words.size() != (orphaned ? 1 : 2))
      return usage_error("delete", "which object? (KIND ID --region REGION, or -f FILE)");
    if (region.empty()) return usage_error("delete", "--region is needed");
    if (!orphaned) targets.push_back({key_of(words[0], region, words[1]), std::nullopt});
  }
  if (targets.empty() && !orphaned) return exit_code_refused;

  auto client = OperatorClient::open(address);
  if (!client.ok()) return not_usable("delete", client.error());
  if (orphaned) {
    if (auto r = add_orphans(*client, words[0], region, targets); !r.ok())
      return failed("delete", r.error());
    if (targets.empty() && *format == Format::table) std::puts("nothing is orphaned");
  }
  v1::DeleteResponse all;
  auto removed = remove(*client, targets, dry_run, *format, all);
  if (*format != Format::table) print(to_json(all), *format);
  if (!removed.ok()) return failed("delete", removed.error());
  return good ? *removed : exit_code_refused;
}

}  // namespace davit::host
