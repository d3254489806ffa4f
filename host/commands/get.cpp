// davit get [KIND [ID]] [--region R]
#include <algorithm>
#include <cstdio>
#include <tuple>

#include "documents.hpp"
#include "operator_client.hpp"
#include "output.hpp"
#include "table.hpp"
#include "text_table.hpp"

namespace davit::host {

namespace {

namespace json = boost::json;

constexpr uint32_t page_size = 1000;

struct Wanted {
  std::string kind, id, region;
  bool deleted = false;
};

// With kind, id and region one record is asked for; otherwise the list is read and the rest
// filtered here.
Result<std::vector<v1::StoredRecord>> fetch(OperatorClient& client, const Wanted& wanted) {
  std::vector<v1::StoredRecord> out;
  if (!wanted.id.empty() && !wanted.region.empty()) {
    v1::OperatorGetRequest request;
    request.mutable_key()->set_kind(wanted.kind);
    request.mutable_key()->set_region(wanted.region);
    request.mutable_key()->set_id(wanted.id);
    v1::OperatorGetResponse response;
    if (auto r = client.call("Get", request, response); !r.ok()) return r.error();
    out.push_back(response.record());
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
        out.push_back(std::move(record));
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  std::sort(out.begin(), out.end(), [](const v1::StoredRecord& a, const v1::StoredRecord& b) {
    const auto& x = a.document();
    const auto& y = b.document();
    return std::tie(x.kind(), x.region(), x.id()) < std::tie(y.kind(), y.region(), y.id());
  });
  return out;
}

void print_table(const std::vector<v1::StoredRecord>& records) {
  TextTable table(
      {"KIND", "ID", "REGION", "NAMESPACE", "NAME", "STATE", "VERSION", "CHANGED", "BY"});
  const int64_t now = unix_ms_now();
  for (const auto& r : records) {
    const auto& d = r.document();
    table.row({d.kind(),
               d.id(),
               d.region(),
               r.namespace_(),
               r.name(),
               {d.state(), r.live() ? Tone::plain : Tone::faint},
               std::to_string(r.version()),
               age(r.committed_at_unix_ms(), now),
               r.author()});
  }
  std::fputs(table.print(use_colour()).c_str(), stdout);
}

// As documents, which `davit apply` takes again.
void print_documents(const std::vector<v1::StoredRecord>& records, bool one, Format format) {
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

}  // namespace

int run_get(Arguments arguments) {
  Wanted wanted;
  wanted.region = arguments.option("--region", "-r").value_or("");
  wanted.deleted = arguments.flag("--deleted");
  auto format = format_of(arguments);
  if (!format) return usage_error("get", "-o must be table, json or yaml");
  const ServerAddress address = ServerAddress::from(arguments);
  if (auto bad = arguments.unknown()) return usage_error("get", *bad);
  const std::vector<std::string> words = arguments.rest();
  if (words.size() > 2) return usage_error("get", "unexpected \"" + words[2] + "\"");
  if (!words.empty()) wanted.kind = words[0];
  if (words.size() == 2) wanted.id = words[1];

  auto client = OperatorClient::open(address);
  if (!client.ok()) return failed("get", client.error());
  auto records = fetch(*client, wanted);
  if (!records.ok()) return failed("get", records.error());
  if (records->empty() && !wanted.id.empty()) {
    return failed(
        "get",
        {Code::not_found, "no " + wanted.kind + " \"" + wanted.id + "\" in any region", {}, {}});
  }
  if (*format != Format::table) {
    print_documents(*records, !wanted.id.empty() && records->size() == 1, *format);
  } else if (records->empty()) {
    std::puts("nothing");
  } else {
    print_table(*records);
  }
  return 0;
}

}  // namespace davit::host
