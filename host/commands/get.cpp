// davit get [KIND [ID...] | KIND/ID...] [--region R] [--watch]
#include <algorithm>
#include <cstdio>
#include <optional>
#include <random>

#include <boost/json/serialize.hpp>

#include <davit/backoff.hpp>

#include "davit.hpp"
#include "documents.hpp"
#include "exit_codes.hpp"
#include "follower.hpp"
#include "kind_columns.hpp"
#include "operator_client.hpp"
#include "output.hpp"
#include "record_reader.hpp"
#include "suggestions.hpp"
#include "text_table.hpp"

namespace davit::host {

namespace {

namespace json = boost::json;

// Limits of the pauses while the server of a watch is away.
constexpr Backoff::Limits reconnect_limits{std::chrono::milliseconds(500),
                                           std::chrono::milliseconds(10'000)};

struct Wanted {
  RecordWords words;
  RecordQuery query;
  bool watch = false;
  bool with_version = false;
  Format format = Format::table;
  JsonPath path;
  ServerAddress server;
};

using Records = std::vector<v1::StoredRecord>;

TextTable table_of_records(const KindColumns& columns) {
  constexpr int after = KindColumns::after_kinds;
  return TextTable(around<TextTable::Heading>(
      {"KIND", "ID", "REGION", {"NAMESPACE", after + 2}, "NAME", "STATE"}, columns.headings(),
      {{"VERSION", after + 4}, {"CHANGED", after + 3}, {"BY", after + 1}}));
}

void print_rows(TextTable& table, const KindColumns& columns, const Records& records,
                Format format) {
  const int64_t now = unix_ms_now();
  for (const auto& r : records) {
    const auto& d = r.document();
    table.row(around<TextTable::Cell>({d.kind(),
                                       d.id(),
                                       d.region(),
                                       r.namespace_(),
                                       r.name(),
                                       {d.state(), r.live() ? Tone::plain : Tone::faint}},
                                      columns.cells(d.spec_json(), now),
                                      {r.version() == 0 ? "-" : std::to_string(r.version()),
                                       age(r.committed_at_unix_ms(), now), r.author()}));
  }
  std::fputs(table.print(use_colour(), table_room(format)).c_str(), stdout);
}

void print_names(const Records& records) {
  for (const auto& r : records) tell(stdout, name_line(r.document().kind(), r.document().id()));
}

// A document that `davit apply` accepts; with its version, one that it refuses once the record has
// another.
json::object document_of(const v1::StoredRecord& record, bool with_version) {
  v1::Document document = record.document();
  if (with_version) {
    document.set_version(record.version());
    document.set_incarnation(record.incarnation());
  }
  return to_json(document);
}

// What a template selects from: the document, and what the store says of it.
json::object all_of(const v1::StoredRecord& record) {
  json::object out = to_json(record.document());
  out["namespace"] = record.namespace_();
  out["name"] = record.name();
  out["version"] = record.version();
  out["live"] = record.live();
  out["committed_at_unix_ms"] = record.committed_at_unix_ms();
  out["author"] = record.author();
  return out;
}

int print_selected(const Records& records, bool one, const JsonPath& path) {
  if (one) return print(all_of(records[0]), path, "get");
  json::array items;
  for (const auto& r : records) items.push_back(all_of(r));
  return print(json::object{{"items", std::move(items)}}, path, "get");
}

void print_documents(const Records& records, bool one, const Wanted& wanted) {
  if (wanted.format == Format::yaml) {
    const char* separator = "";
    for (const auto& r : records) {
      std::fputs(separator, stdout);
      print(document_of(r, wanted.with_version), wanted.format);
      separator = "---\n";
    }
    return;
  }
  if (one) return print(document_of(records[0], wanted.with_version), wanted.format);
  json::array all;
  for (const auto& r : records) all.push_back(document_of(r, wanted.with_version));
  print(all, wanted.format);
}

// Returns the exit code.
int tell_absent(OperatorClient& client, const std::vector<RecordName>& names,
                const RecordQuery& query) {
  IdSuggestions suggestions(client, query.region);
  for (const RecordName& name : names) {
    Error error = not_there(name, query.region, query.ns);
    error.message += suggestions.after(name);
    failed("get", error);
  }
  return names.empty() ? exit_code_done : exit_code_not_found;
}

int show(OperatorClient& client, const Wanted& wanted) {
  const auto& query = wanted.query;
  auto read = read_records(client, query);
  if (!read.ok()) return failed("get", read.error());
  const Records& records = read->records;
  const bool one = have_ids(query.names) && query.names.size() == 1 && records.size() == 1;
  int code = exit_code_done;
  if (records.empty() && !read->absent.empty()) {
    // Only errors.
  } else if (wanted.format == Format::jsonpath) {
    code = print_selected(records, one, wanted.path);
  } else if (wanted.format == Format::name) {
    print_names(records);
  } else if (is_document(wanted.format)) {
    print_documents(records, one, wanted);
  } else if (records.empty()) {
    std::puts("nothing");
  } else {
    TextTable table = table_of_records(read->columns);
    print_rows(table, read->columns, records, wanted.format);
  }
  std::fflush(stdout);
  const int absent = tell_absent(client, read->absent, query);
  return code != exit_code_done ? code : absent;
}

// Prints what exists, and then each change: rows of one table, names, JSON objects one per line, or
// YAML documents.
class Changes {
 public:
  explicit Changes(const Wanted& wanted) : wanted_(&wanted), format_(wanted.format) {}

  // The kind's columns are those of the first answer of all: headings are printed once.
  void begin(const KindColumns::Columns& columns) {
    if (table_) return;
    columns_ = KindColumns(columns);
    table_ = table_of_records(columns_);
  }
  // Call begin() before it. False: nobody reads the output any more.
  bool print(const Records& records) {
    if (records.empty()) return true;
    if (format_ == Format::name) {
      print_names(records);
    } else if (!is_document(format_)) {
      print_rows(*table_, columns_, records, format_);
    } else {
      for (const auto& r : records) print(r);
    }
    return flush_output();
  }

 private:
  void print(const v1::StoredRecord& record) {
    const json::object document = document_of(record, wanted_->with_version);
    if (format_ == Format::json) {
      std::puts(json::serialize(document).c_str());
      return;
    }
    if (std::exchange(any_, true)) std::fputs("---\n", stdout);
    host::print(document, format_);
  }

  const Wanted* wanted_;
  Format format_;
  KindColumns columns_;
  std::optional<TextTable> table_;
  bool any_ = false;
};

// True if another stream can continue: the server was away, or the stream fell below the purge
// mark.
bool goes_on(const Error& ended) {
  return ended.code == Code::unavailable || ended.code == Code::out_of_range;
}

// Leaves the records of the namespace that was asked for, which a record keeps for its life.
void leave(const RecordQuery& query, v1::OperatorWatchResponse& response) {
  auto& records = *response.mutable_records();
  const auto end = std::remove_if(records.begin(), records.end(),
                                  [&](const auto& r) { return !is_in_namespace(query, r); });
  records.erase(end, records.end());
}

// Watches until it is interrupted or the timeout passes.
int watch(OperatorClient& client, const Wanted& wanted) {
  v1::OperatorWatchRequest request;
  const RecordName name = wanted.query.names.empty() ? RecordName{} : wanted.query.names.front();
  request.set_kind(name.kind);
  request.set_region(wanted.query.region);
  request.set_id(name.id);
  request.set_include_deleted(true);  // Follower filters them
  Changes changes(wanted);
  Follower follower(wanted.query.deleted);
  Backoff backoff(reconnect_limits);
  std::random_device random;
  bool away = false, written = true;
  for (;;) {
    v1::OperatorWatchResponse response;
    follower.begin();
    auto ended = client.watch("Watch", request, response, [&] {
      if (std::exchange(away, false)) tell(stderr, "davit get: connected again");
      if (response.current()) backoff.reset();
      changes.begin(response.columns());
      leave(wanted.query, response);
      const bool beginning = !follower.current();
      const Records records = follower.take(response);
      const bool nothing = beginning && follower.current() && records.empty();
      if (nothing && !name.id.empty()) return false;
      return written = changes.print(records);
    });
    if (!written) return exit_code_failed;  // Command::run() reports it
    if (ended.ok()) return tell_absent(client, {name}, wanted.query);
    if (!follower.current() || !goes_on(ended.error())) return failed("get", ended.error());
    if (!std::exchange(away, true))
      tell(stderr, "davit get: " + ended.error().message + "; connecting again");
    if (!client.pause(backoff.next(random()))) return failed("get", ended.error());
  }
}

int get(Wanted& wanted) {
  wanted.query.names = wanted.words.names();
  if (wanted.watch && wanted.query.names.size() > 1)
    throw UsageError("--watch follows one record, one kind or all");
  if (wanted.watch && wanted.format == Format::jsonpath)
    throw UsageError("-o jsonpath prints no changes: --watch with -o json prints one a line");
  if (wanted.with_version && !is_document(wanted.format))
    throw UsageError("--with-version is for -o yaml and -o json");
  auto client = OperatorClient::open(wanted.server);
  if (!client.ok()) return not_usable("get", client.error());
  return wanted.watch ? watch(*client, wanted) : show(*client, wanted);
}

}  // namespace

CommandPtr get_command() {
  auto wanted = std::make_shared<Wanted>();
  auto command = std::make_shared<Command>("get", "[KIND [ID...] | KIND/ID...] [-o FORMAT]",
                                           "show desired state", [wanted] { return get(*wanted); });
  wanted->words.add_words(*command);
  command->option("-r,--region", "R", wanted->query.region, "of this region only");
  command->option("-n,--namespace", "NS", wanted->query.ns,
                  "of this Kubernetes namespace only; records have no labels to select by");
  command->no_option("-l,--selector", no_labels);
  command->flag("-w,--watch", wanted->watch,
                "then print each change as it comes; reconnects when the server was away");
  command->flag("--deleted", wanted->query.deleted,
                "show deleted records, too; their documents cannot be applied again");
  add_format(*command, wanted->format, "what yaml and json print can be applied again",
             {Format::wide, Format::name}, &wanted->path);
  command->flag("--with-version", wanted->with_version,
                "with yaml and json: documents that apply refuses once their records have changed");
  wanted->server.add_options(*command);
  command->examples({"davit get deployment -r eu-1", "davit get deployment/d_web",
                     "davit get --watch", "davit get -o yaml > all.yaml",
                     "davit get deployment/d_web -o yaml --with-version > web.yaml",
                     "davit get deployment -o jsonpath='{.items[*].id}'"});
  return command;
}

}  // namespace davit::host
