// davit diff -f FILE|DIR... [-R]
#include <cstdio>

#include <boost/json/array.hpp>

#include "apply_calls.hpp"
#include "davit.hpp"
#include "differences.hpp"
#include "documents.hpp"
#include "outcomes.hpp"
#include "output.hpp"
#include "text_table.hpp"
#include "yaml.hpp"

namespace davit::host {

namespace {

namespace json = boost::json;

struct DiffOptions {
  DocumentPaths paths;
  bool overwrite = false;
  Format format = Format::table;
  ServerAddress server;
};

// True: apply would change something.
bool differs(const v1::Outcome& o) {
  return !is_refused(o) && o.type() != v1::Outcome::TYPE_UNCHANGED;
}

// The document without its version, which no apply changes to what a document says.
json::value comparable(const v1::Document& document) {
  v1::Document out = document;
  out.clear_version();
  out.clear_incarnation();
  return with_ordered_keys(to_json(out));
}

std::string yaml_of(const v1::Document& document) {
  return to_yaml(comparable(document), YamlTexts::in_blocks);
}

void print_diff(const v1::Outcome& o) {
  tell(stdout, outcome_line(o));
  if (!differs(o)) return;
  const std::string name = name_line(o.kind(), o.id()) + " (" + o.region() + ")";
  const bool any = o.has_before();
  const std::string version = any ? " version " + std::to_string(o.before().version()) : " (none)";
  const std::string diff = unified_diff(any ? yaml_of(o.before()) : "", yaml_of(o.after()),
                                        harmless(name + version), harmless(name + " as given"));
  // Such as a field that this release of the server does not know.
  if (diff.empty()) std::puts("the fields that differ cannot be shown by this server");
  std::fputs(use_colour() ? coloured_diff(diff).c_str() : diff.c_str(), stdout);
}

json::object document_of(const v1::Outcome& o) {
  json::object out;
  out["kind"] = o.kind();
  out["region"] = o.region();
  out["id"] = o.id();
  out["outcome"] = o.outcome();
  if (o.has_before()) out["version"] = o.before().version();
  if (o.type() == v1::Outcome::TYPE_UNCHANGED) out["version"] = o.version();
  if (is_refused(o)) {
    out["field"] = o.field();
    out["message"] = o.message();
  }
  json::array fields;
  const bool both = o.has_before() && o.has_after();
  const auto changes = both ? changed_fields(comparable(o.before()), comparable(o.after()))
                            : std::vector<FieldChange>();
  for (const FieldChange& change : changes) {
    json::object field{{"path", change.path}};
    if (change.before) field["before"] = *change.before;
    if (change.after) field["after"] = *change.after;
    fields.push_back(std::move(field));
  }
  if (both) out["fields"] = std::move(fields);
  return out;
}

// The exit code of diff for that of another command.
int of_diff(int code) {
  return code == exit_code_failed ? exit_code_diff_failed : code;
}

int diff(const DiffOptions& options) {
  if (options.paths.files.empty())
    throw UsageError("which file? (-f FILE, -f DIR, or -f - for standard input)");
  options.paths.require_sense();
  const Documents documents = documents_to_send(options.paths, options.overwrite, "diff");
  if (documents.good.empty()) return exit_code_refused;
  auto client = OperatorClient::open(options.server);
  if (!client.ok()) return not_usable("diff", client.error());
  v1::ApplyRequest like;
  like.set_dry_run(true);
  like.set_show_documents(true);
  like.add_required_features("show_documents");
  Refusals refusals;
  json::array all;
  bool any = false;
  // In one request, because a name that one document gives up another may take.
  auto sent = send_documents(*client, documents.good, like, whole_request,
                             [&](const auto& document, v1::Outcome& o) {
                               any = any || differs(o);
                               if (is_refused(o)) refusals.tell(document, o);
                               if (is_document(options.format)) {
                                 all.push_back(document_of(o));
                               } else if (options.format == Format::name) {
                                 if (differs(o)) tell(stdout, name_line(o.kind(), o.id()));
                               } else if (!is_refused(o)) {
                                 print_diff(o);
                               }
                             });
  const ExitCode refused = refusals.end();
  if (is_document(options.format)) print(all, options.format);
  if (!sent.ok()) return of_diff(failed("diff", sent.error()));
  if (!flush_output()) return exit_code_diff_failed;
  if (!documents.faults.empty()) return exit_code_refused;
  if (refused != exit_code_done) return of_diff(refused);
  return any ? exit_code_differs : exit_code_done;
}

}  // namespace

CommandPtr diff_command() {
  auto options = std::make_shared<DiffOptions>();
  auto command =
      std::make_shared<Command>("diff", "-f FILE|DIR [-R]",
                                "show what apply would change, field by field, and change nothing",
                                [options] { return diff(*options); });
  options->paths.add_options(*command, "YAML or JSON");
  command->flag("--overwrite", options->overwrite,
                "as apply --overwrite: also documents with a version that their records no longer "
                "have");
  add_format(*command, options->format,
             "a unified diff of YAML; json and yaml list the changed fields, name what differs",
             {Format::name});
  options->server.add_options(*command);
  command->examples({"davit diff -f shop.yaml", "davit diff -R -f shops/ -o json",
                     "davit diff -f shop.yaml > /dev/null || echo it differs or is refused"});
  return command;
}

}  // namespace davit::host
