#include "record_reader.hpp"
#include <algorithm>
#include <tuple>

#include "record_pages.hpp"

namespace davit::host {

namespace {

constexpr uint32_t page_size = 1000;

// A record that changed during the listing occurs twice, the newer version last.
void sort(std::vector<v1::StoredRecord>& records) {
  const auto place = [](const v1::StoredRecord& r) {
    const auto& d = r.document();
    return std::tuple<const std::string&, const std::string&, const std::string&, uint64_t>(
        d.kind(), d.region(), d.id(), r.version());
  };
  std::sort(records.begin(), records.end(),
            [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

Result<> add_one(OperatorClient& client, const RecordName& name, const RecordQuery& query,
                 RecordsRead& to) {
  v1::OperatorGetRequest request;
  request.mutable_key()->set_kind(name.kind);
  request.mutable_key()->set_region(query.region);
  request.mutable_key()->set_id(name.id);
  v1::OperatorGetResponse response;
  auto r = client.call("Get", request, response);
  const bool there = r.ok() && is_in_namespace(query, response.record());
  if (r.ok() ? !there : r.error().code == Code::not_found) {
    to.absent.push_back(name);
    return {};
  }
  if (!r.ok()) return r;
  to.records.push_back(std::move(*response.mutable_record()));
  to.columns = KindColumns(response.columns());
  return {};
}

// Those of the kind with the ids that are named; no ids: all.
Result<> add_listed(OperatorClient& client, const std::string& kind, const RecordQuery& query,
                    RecordsRead& to) {
  v1::ListRequest request;
  request.set_kind(kind);
  request.set_region(query.region);
  request.set_include_deleted(query.deleted);
  request.set_page_size(page_size);
  const std::set<RecordName> names(query.names.begin(), query.names.end());
  const bool all = !have_ids(query.names);
  std::set<std::string> seen;
  auto listed = list_records(client, request, [&](v1::ListResponse& page) -> Result<bool> {
    for (auto& record : *page.mutable_records()) {
      const std::string& id = record.document().id();
      if (!all && !names.contains({kind, id})) continue;
      if (!is_in_namespace(query, record)) continue;
      seen.insert(id);
      to.records.push_back(std::move(record));
    }
    to.columns = KindColumns(page.columns());
    return true;
  });
  if (!listed.ok()) return listed;
  for (const RecordName& name : query.names) {
    if (!all && name.kind == kind && !seen.contains(name.id)) to.absent.push_back(name);
  }
  return {};
}

Result<> add_records(OperatorClient& client, const RecordQuery& query, RecordsRead& to) {
  if (query.names.empty()) return add_listed(client, {}, query, to);
  if (have_ids(query.names) && !query.region.empty()) {
    for (const RecordName& name : query.names) {
      if (auto r = add_one(client, name, query, to); !r.ok()) return r;
    }
    return {};
  }
  for (const std::string& kind : kinds_of(query.names)) {
    if (auto r = add_listed(client, kind, query, to); !r.ok()) return r;
  }
  return {};
}

}  // namespace

Result<RecordsRead> read_records(OperatorClient& client, const RecordQuery& query) {
  RecordsRead out;
  if (auto r = add_records(client, query, out); !r.ok()) return r.error();
  if (common_kind(query.names).empty()) out.columns = {};
  sort(out.records);
  return out;
}

Error not_there(const RecordName& name, const std::string& region, const std::string& ns) {
  std::string where = region.empty() ? "any region" : "region \"" + region + "\"";
  if (!ns.empty()) where = "namespace \"" + ns + "\" of " + where;
  return {Code::not_found, "no " + name.kind + " \"" + name.id + "\" in " + where};
}

}  // namespace davit::host
