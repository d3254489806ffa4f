// davit get [KIND [ID]] [--region R] [--watch]
#include <algorithm>
#include <cstdio>
#include <optional>
#include <random>
#include <tuple>

#include <boost/json/serialize.hpp>

#include <davit/backoff.hpp>

#include "davit.hpp"
#include "documents.hpp"
#include "exit_codes.hpp"
#include "follower.hpp"
#include "kind_columns.hpp"
#include "operator_client.hpp"
#include "output.hpp"
#include "text_table.hpp"

namespace davit::host {

namespace {

namespace json = boost::json;

constexpr uint32_t page_size = 1000;
// Limits of the pauses while the server of a watch is away.
constexpr Backoff::Limits reconnect_limits{std::chrono::milliseconds(500),
                                           std::chrono::milliseconds(10'000)};

struct Wanted {
  std::string kind, id, region;
  bool deleted = false;
  bool watch = false;
  Format format = Format::table;
  ServerAddress server;
};

using Records = std::vector<v1::StoredRecord>;
struct Listed {
  Records records;
  KindColumns columns;
};

// A record that changed during the listing occurs twice, the newer version last.
void sort(Records& records) {
  const auto place = [](const v1::StoredRecord& r) {
    const auto& d = r.document();
    return std::tuple<const std::string&, const std::string&, const std::string&, uint64_t>(
        d.kind(), d.region(), d.id(), r.version());
  };
  std::sort(records.begin(), records.end(),
            [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

Error nowhere(const Wanted& wanted) {
  const std::string where =
      wanted.region.empty() ? "any region" : "region \"" + wanted.region + "\"";
  return {Code::not_found, "no " + wanted.kind + " \"" + wanted.id + "\" in " + where};
}

// With kind, id and region, asks for one record. Otherwise reads the list and filters it by id.
Result<Listed> fetch(OperatorClient& client, const Wanted& wanted) {
  Listed out;
  if (!wanted.id.empty() && !wanted.region.empty()) {
    v1::OperatorGetRequest request;
    request.mutable_key()->set_kind(wanted.kind);
    request.mutable_key()->set_region(wanted.region);
    request.mutable_key()->set_id(wanted.id);
    v1::OperatorGetResponse response;
    if (auto r = client.call("Get", request, response); !r.ok()) return r.error();
    out.records.push_back(response.record());
    out.columns = KindColumns(response.columns());
    return out;
  }
  v1::ListRequest request;
  request.set_kind(wanted.kind);
  request.set_region(wanted.region);
  request.set_include_deleted(wanted.deleted);
  request.set_page_size(page_size);
  do {
    v1::ListResponse response;
    if (auto r = client.call("List", request, response); !r.ok()) return r.error();
    for (auto& record : *response.mutable_records()) {
      if (wanted.id.empty() || record.document().id() == wanted.id)
        out.records.push_back(std::move(record));
    }
    out.columns = KindColumns(response.columns());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  sort(out.records);
  return out;
}

TextTable table_of_records(const KindColumns& columns) {
  constexpr int after = KindColumns::after_kinds;
  return TextTable(around<TextTable::Heading>(
      {"KIND", "ID", "REGION", {"NAMESPACE", after + 2}, "NAME", "STATE"}, columns.headings(),
      {{"VERSION", after + 4}, {"CHANGED", after + 3}, {"BY", after + 1}}));
}

void print_rows(TextTable& table, const KindColumns& columns, const Records& records) {
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
  std::fputs(table.print(use_colour(), terminal_columns()).c_str(), stdout);
}

// Prints records as documents that `davit apply` accepts.
void print_documents(const Records& records, bool one, Format format) {
  if (format == Format::yaml) {
    const char* separator = "";
    for (const auto& r : records) {
      std::fputs(separator, stdout);
      print(to_json(r.document()), format);
      separator = "---\n";
    }
    return;
  }
  if (one) return print(to_json(records[0].document()), format);
  json::array all;
  for (const auto& r : records) all.push_back(to_json(r.document()));
  print(all, format);
}

int show(OperatorClient& client, const Wanted& wanted) {
  auto listed = fetch(client, wanted);
  if (!listed.ok()) return failed("get", listed.error());
  const Records& records = listed->records;
  if (records.empty() && !wanted.id.empty()) return failed("get", nowhere(wanted));
  if (wanted.format != Format::table) {
    print_documents(records, !wanted.id.empty() && records.size() == 1, wanted.format);
  } else if (records.empty()) {
    std::puts("nothing");
  } else {
    TextTable table = table_of_records(listed->columns);
    print_rows(table, listed->columns, records);
  }
  return 0;
}

// Prints what exists, and then each change: rows of one table, JSON objects one per line, or YAML
// documents.
class Changes {
 public:
  explicit Changes(Format format) : format_(format) {}

  // The kind's columns are those of the first answer of all: headings are printed once.
  void begin(const KindColumns::Columns& columns) {
    if (table_) return;
    columns_ = KindColumns(columns);
    table_ = table_of_records(columns_);
  }
  // Call begin() before it. False: nobody reads the output any more.
  bool print(const Records& records) {
    if (records.empty()) return true;
    if (format_ == Format::table) {
      print_rows(*table_, columns_, records);
    } else {
      for (const auto& r : records) print(r);
    }
    return flush_output();
  }

 private:
  void print(const v1::StoredRecord& record) {
    const json::object document = to_json(record.document());
    if (format_ == Format::json) {
      std::puts(json::serialize(document).c_str());
      return;
    }
    if (std::exchange(any_, true)) std::fputs("---\n", stdout);
    host::print(document, format_);
  }

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

// Watches until it is interrupted or the timeout passes.
int watch(OperatorClient& client, const Wanted& wanted) {
  v1::OperatorWatchRequest request;
  request.set_kind(wanted.kind);
  request.set_region(wanted.region);
  request.set_id(wanted.id);
  request.set_include_deleted(true);  // Follower filters them
  Changes changes(wanted.format);
  Follower follower(wanted.deleted);
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
      const bool beginning = !follower.current();
      const Records records = follower.take(response);
      const bool nothing = beginning && follower.current() && records.empty();
      if (nothing && !wanted.id.empty()) return false;
      return written = changes.print(records);
    });
    if (!written) return exit_code_failed;  // Command::run() reports it
    if (ended.ok()) return failed("get", nowhere(wanted));
    if (!follower.current() || !goes_on(ended.error())) return failed("get", ended.error());
    if (!std::exchange(away, true))
      tell(stderr, "davit get: " + ended.error().message + "; connecting again");
    if (!client.pause(backoff.next(random()))) return failed("get", ended.error());
  }
}

int get(const Wanted& wanted) {
  auto client = OperatorClient::open(wanted.server);
  if (!client.ok()) return not_usable("get", client.error());
  return wanted.watch ? watch(*client, wanted) : show(*client, wanted);
}

}  // namespace

CommandPtr get_command() {
  auto wanted = std::make_shared<Wanted>();
  auto command = std::make_shared<Command>("get", "[KIND [ID]] [-o table|json|yaml]",
                                           "show desired state", [wanted] { return get(*wanted); });
  command->word("KIND", wanted->kind, "of this kind only");
  command->word("ID", wanted->id, "this record only");
  command->option("-r,--region", "R", wanted->region, "of this region only");
  command->flag("-w,--watch", wanted->watch,
                "then print each change as it comes; reconnects when the server was away");
  command->flag("--deleted", wanted->deleted,
                "show deleted records, too; their documents cannot be applied again");
  add_format(*command, wanted->format, "what yaml and json print can be applied again");
  wanted->server.add_options(*command);
  command->examples(
      {"davit get deployment -r eu-1", "davit get --watch", "davit get -o yaml > all.yaml"});
  return command;
}

}  // namespace davit::host
