// davit apply -f FILE|DIR... [-R] [--wait [--timeout 60s]] [--again] [--dry-run]
#include <cstdio>
#include <random>

#include "apply_calls.hpp"
#include "await_records.hpp"
#include "davit.hpp"
#include "documents.hpp"
#include "operator_client.hpp"
#include "outcomes.hpp"
#include "output.hpp"

namespace davit::host {

namespace {

struct ApplyOptions {
  DocumentPaths paths;
  bool wait = false;
  bool again = false;
  bool dry_run = false;
  bool overwrite = false;
  Format format = Format::table;
  ServerAddress server;
};

std::string random_id() {
  std::random_device device;
  const uint64_t id = static_cast<uint64_t>(device()) << 32 | device();
  return "apply-" + std::to_string(id);
}

// Returns the exit code of the first refusal.
Result<ExitCode> send(OperatorClient& client, const std::vector<SourceDocument>& documents,
                      const ApplyOptions& options, std::vector<v1::Outcome>& outcomes) {
  v1::ApplyRequest like;
  like.set_dry_run(options.dry_run);
  like.set_again(options.again);
  like.set_request_id(random_id());
  Refusals refusals;
  auto sent =
      send_documents(client, documents, like, {}, [&](const auto& document, v1::Outcome& o) {
        if (is_refused(o)) {
          refusals.tell(document, o);
        } else if (options.format == Format::table) {
          tell(stdout, outcome_line(o, options.dry_run));
        } else if (options.format == Format::name) {
          tell(stdout, name_line(o.kind(), o.id()));
        }
        outcomes.push_back(std::move(o));
      });
  const ExitCode code = refusals.end();
  if (!sent.ok()) return sent.error();
  return code;
}

int apply_files(const ApplyOptions& options) {
  const Documents documents = documents_to_send(options.paths, options.overwrite, "apply");
  if (documents.good.empty()) return exit_code_refused;
  auto client = OperatorClient::open(options.server);
  if (!client.ok()) return not_usable("apply", client.error());
  std::vector<v1::Outcome> outcomes;
  auto sent = send(*client, documents.good, options, outcomes);
  if (is_document(options.format)) {
    v1::ApplyResponse all;
    for (const auto& o : outcomes) *all.add_outcomes() = o;
    print(to_json(all), options.format);
  }
  if (!sent.ok()) return failed("apply", sent.error());
  std::fflush(stdout);
  ExitCode waited = exit_code_done;
  // Programs read the other formats, so lines for people go to standard error.
  std::FILE* progress = options.format == Format::table ? stdout : stderr;
  if (options.wait && !options.dry_run)
    waited = await_records(*client, outcomes,
                           {"apply", "not running", progress, *options.server.timeout});
  if (!documents.faults.empty()) return exit_code_refused;
  return *sent != exit_code_done ? *sent : waited;
}

int apply(ApplyOptions options) {
  if (options.paths.files.empty())
    throw UsageError("which file? (-f FILE, -f DIR, or -f - for standard input)");
  auto& timeout = options.server.timeout;
  if (options.wait && !timeout) timeout = wait_timeout;
  return apply_files(options);
}

}  // namespace

CommandPtr apply_command() {
  auto options = std::make_shared<ApplyOptions>();
  auto command = std::make_shared<Command>("apply", "-f FILE|DIR [-R] [--wait]",
                                           "apply documents: they become the desired state",
                                           [options] { return apply(*options); });
  options->paths.add_options(*command, "YAML or JSON");
  command->flag("--wait", options->wait,
                "wait until each record runs at this version or cannot; 60s without --timeout");
  command->flag("--again", options->again,
                "commit unchanged documents, too: agents apply them once more");
  command->flag("--dry-run", options->dry_run,
                "say what would change, and change nothing; davit diff shows the fields");
  command->flag("--overwrite", options->overwrite,
                "also documents with a version that their records no longer have");
  add_format(*command, options->format, "how it is printed", {Format::name});
  options->server.add_options(*command);
  command->examples({"davit apply -f shop.yaml --dry-run",
                     "davit apply -f shop.yaml --wait --timeout 5m", "davit apply -R -f shops/"});
  return command;
}

}  // namespace davit::host
