// davit describe KIND ID...|KIND/ID... [--region R]
#include <algorithm>
#include <cstdio>
#include <utility>

#include <boost/json/parse.hpp>

#include <davit/rfc3339.hpp>

#include "conditions.hpp"
#include "davit.hpp"
#include "documents.hpp"
#include "exit_codes.hpp"
#include "output.hpp"
#include "record_reader.hpp"
#include "status_tables.hpp"
#include "suggestions.hpp"
#include "text_pieces.hpp"
#include "text_table.hpp"
#include "yaml.hpp"

namespace davit::host {

namespace {

namespace json = boost::json;

struct DescribeOptions {
  RecordWords words;
  RecordQuery query;
  ServerAddress server;
};

// The lines of a section, two spaces deeper for each level.
std::string indented_lines(const std::string& text) {
  std::string out;
  for (const std::string_view line : split_lines(text)) out += "  " + std::string(line) + "\n";
  return out;
}

std::string named_line(const std::string& name, const std::string& value) {
  constexpr size_t name_columns = 14;
  std::string out = name + ":";
  out.resize(std::max(out.size() + 1, name_columns), ' ');
  return out + harmless(value.empty() ? "-" : value) + "\n";
}

std::string when(int64_t unix_ms, int64_t now) {
  return unix_ms <= 0 ? "-" : rfc3339(unix_ms) + " (" + age(unix_ms, now) + " ago)";
}

std::string desired_text(const v1::StoredRecord& r, int64_t now) {
  const auto& d = r.document();
  std::string out =
      named_line("Kind", d.kind()) + named_line("Id", d.id()) + named_line("Region", d.region()) +
      named_line("Namespace", r.namespace_()) + named_line("Name", r.name()) +
      named_line("State", d.state()) + named_line("Version", std::to_string(r.version())) +
      named_line("Changed", when(r.committed_at_unix_ms(), now)) + named_line("By", r.author());
  const json::object document = to_json(d);
  for (const char* part : {"annotations", "spec"}) {
    const json::value* value = document.if_contains(part);
    if (value == nullptr) continue;
    out += part == std::string_view("spec") ? "Spec:\n" : "Annotations:\n";
    out += indented_lines(to_yaml(*value, YamlTexts::in_blocks));
  }
  return out;
}

// A word that status shows, with what it means and what to do.
std::string word_text(const std::string& word, const std::string& reason) {
  constexpr size_t line_columns = 76;
  std::string out = named_line(word, reason);
  for (const Condition& c : conditions) {
    if (c.name != word) continue;
    const std::string texts[] = {std::string(c.means), "What to do: " + std::string(c.to_do)};
    for (const std::string& text : texts) {
      for (const std::string& one : wrapped(text, line_columns)) out += "  " + one + "\n";
    }
  }
  return indented_lines(out);
}

std::string observed_text(const v1::ObjectStatus& o, int64_t now) {
  const auto& s = o.observed();
  if (!o.has_observed()) return "Observed:     nothing has been reported\n";
  const std::string of = " of " + std::to_string(s.desired());
  std::string out = named_line("Version", std::to_string(s.observed_version())) +
                    named_line("Health", s.health()) +
                    named_line("Ready", std::to_string(s.ready()) + of) +
                    named_line("Updated", std::to_string(s.updated()) + of) +
                    named_line("Stale", std::to_string(s.stale())) +
                    named_line("Reported", when(s.reported_at_unix_ms(), now));
  if (!s.message().empty()) out += named_line("Message", s.message());
  for (const auto& child : s.children())
    out += named_line("Pod", child.name() + " " + child.status() + " " + child.address());
  boost::system::error_code error;
  const json::value detail = json::parse(s.detail(), error);
  if (!error && detail.is_object() && !detail.get_object().empty())
    out += "Detail:\n" + indented_lines(to_yaml(detail, YamlTexts::in_blocks));
  return "Observed:\n" + indented_lines(out);
}

// Each condition of the object, once.
std::string conditions_text(const v1::StatusResponse& status, const v1::ObjectStatus& o) {
  std::string out;
  if (!o.condition().empty()) out += word_text(o.condition(), o.reason());
  for (const auto& a : status.agents()) {
    for (const auto& i : a.issues()) {
      const bool is_it = i.kind() == o.kind() && i.id() == o.id() && a.region() == o.region();
      if (is_it && i.condition() != o.condition()) out += word_text(i.condition(), i.reason());
    }
  }
  for (const auto& r : status.regions()) {
    if (r.region() == o.region()) out += word_text(r.condition(), r.reason());
  }
  const std::string& health = o.observed().health();
  if (o.has_observed() && !health.empty() && health != o.condition())
    out += word_text(health, o.observed().message());
  return out.empty() ? "Conditions:   none\n" : "Conditions:\n" + out;
}

Result<std::string> description_of(OperatorClient& client, const v1::StoredRecord& record) {
  const auto& d = record.document();
  const int64_t now = unix_ms_now();
  v1::StatusRequest request;
  request.set_kind(d.kind());
  request.set_region(d.region());
  request.set_id(d.id());
  v1::StatusResponse status;
  if (auto r = client.call("Status", request, status); !r.ok()) return r.error();
  std::string out = desired_text(record, now);
  v1::ObjectStatus object;
  object.set_kind(d.kind());
  object.set_region(d.region());
  object.set_id(d.id());
  if (status.objects_size() > 0) object = status.objects(0);
  out += observed_text(object, now) + conditions_text(status, object);
  return out + "Agents:\n" + indented_lines(agents_table(status, {use_colour(), 0}));
}

int describe(DescribeOptions& options) {
  options.query.names = options.words.names();
  if (options.query.names.empty()) throw UsageError("which record? (KIND ID, or KIND/ID)");
  auto client = OperatorClient::open(options.server);
  if (!client.ok()) return not_usable("describe", client.error());
  const auto read = read_records(*client, options.query);
  if (!read.ok()) return failed("describe", read.error());
  const char* separator = "";
  for (const auto& record : read->records) {
    const auto text = description_of(*client, record);
    if (!text.ok()) return failed("describe", text.error());
    std::printf("%s%s", std::exchange(separator, "\n"), text->c_str());
  }
  std::fflush(stdout);
  IdSuggestions suggestions(*client, options.query.region);
  for (const RecordName& name : read->absent) {
    Error error = not_there(name, options.query.region, options.query.ns);
    error.message += suggestions.after(name);
    failed("describe", error);
  }
  return read->absent.empty() ? exit_code_done : exit_code_not_found;
}

}  // namespace

CommandPtr describe_command() {
  auto options = std::make_shared<DescribeOptions>();
  auto command = std::make_shared<Command>(
      "describe", "KIND [ID...] | KIND/ID...",
      "say all that is known of records: document, status, conditions, agents",
      [options] { return describe(*options); });
  options->words.add_words(*command);
  command->option("-r,--region", "R", options->query.region, "of this region only");
  command->option("-n,--namespace", "NS", options->query.ns, "of this Kubernetes namespace only");
  options->server.add_options(*command);
  command->examples({"davit describe deployment/d_web", "davit describe deployment d_web -r eu-1"});
  return command;
}

}  // namespace davit::host
