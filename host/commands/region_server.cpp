#include "region_server.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include <davit/v1/operator.pb.h>

#include "outcomes.hpp"
#include "record_pages.hpp"

namespace davit::host {
namespace {

constexpr uint32_t records_of_a_page = 500;
constexpr int passes_max = 20;  // somebody may go on applying records

Result<> list_status(OperatorClient& client, const std::string& region,
                     const std::function<void(const v1::StatusResponse&)>& see) {
  v1::StatusRequest request;
  request.set_region(region);
  v1::StatusResponse page;
  return client.list("ListStatus", request, page, [&] { see(page); });
}

v1::ListRequest of_region(const std::string& region) {
  v1::ListRequest out;
  out.set_region(region);
  out.set_page_size(records_of_a_page);
  return out;
}

bool is_left(const v1::ObjectStatus& object) {
  return !object.live() && object.has_observed() && !object.observed().gone();
}

}  // namespace

Result<RegionView> RegionServer::look(int64_t now) const {
  RegionView out;
  auto r = list_status(client_, region_, [&](const v1::StatusResponse& page) {
    for (const auto& agent : page.agents()) {
      if (agent.region() != region_) continue;
      ++out.agents;
      out.seen_at_unix_ms = std::max<int64_t>(out.seen_at_unix_ms, agent.seen_at_unix_ms());
      if (now - agent.seen_at_unix_ms() <= agent_silent_after_ms && !agent.taken_over())
        out.lag += agent.lag();
    }
    for (const auto& object : page.objects()) {
      if (object.region() != region_ || !is_left(object)) continue;
      if (out.objects++ == 0) out.example = object.kind() + " " + object.id();
    }
  });
  if (!r.ok()) return r.error();
  out.at_work = out.agents > 0 && now - out.seen_at_unix_ms <= agent_silent_after_ms;
  return out;
}

Result<RegionRecords> RegionServer::records() const {
  RegionRecords out;
  auto r = list_records(client_, of_region(region_), [&](v1::ListResponse& page) -> Result<bool> {
    for (const auto& record : page.records())
      if (out.count++ == 0) out.example = record.document().kind() + " " + record.document().id();
    return true;
  });
  if (!r.ok()) return r.error();
  return out;
}

// Deletes the records of one page. How many of them were there.
Result<size_t> RegionServer::delete_page(const v1::ListResponse& page) const {
  v1::DeleteRequest request;
  for (const auto& record : page.records()) {
    auto& key = *request.add_keys();
    key.set_kind(record.document().kind());
    key.set_region(record.document().region());
    key.set_id(record.document().id());
  }
  if (request.keys_size() == 0) return size_t{0};
  v1::DeleteResponse response;
  if (auto r = client_.call("Delete", request, response); !r.ok()) return r.error();
  size_t count = 0;
  for (const auto& o : response.outcomes()) {
    if (is_refused(o)) {
      return Error{Code::failed_precondition, "the server does not delete " + o.kind() + " " +
                                                  o.id() + " of region " + region_ + ": " +
                                                  o.message()};
    }
    count += o.type() == v1::Outcome::TYPE_DELETED;
  }
  return count;
}

Result<size_t> RegionServer::delete_records() const {
  size_t all = 0;
  for (int pass = 0; pass < passes_max; ++pass) {
    size_t found = 0;
    auto r = list_records(client_, of_region(region_), [&](v1::ListResponse& page) -> Result<bool> {
      const auto deleted = delete_page(page);
      if (!deleted.ok()) return deleted.error();
      found += *deleted;
      return true;
    });
    if (!r.ok()) return r.error();
    if (found == 0) return all;
    all += found;
  }
  return Error{Code::failed_precondition,
               "records of region " + region_ + " come as fast as they are deleted"};
}

Result<> RegionServer::forget_agents() const {
  std::set<std::string> agents;
  auto r = list_status(client_, region_, [&](const v1::StatusResponse& page) {
    for (const auto& agent : page.agents())
      if (agent.region() == region_) agents.insert(agent.agent());
  });
  if (!r.ok()) return r;
  for (const std::string& agent : agents) {
    v1::ForgetAgentRequest request;
    request.set_region(region_);
    request.set_agent(agent);
    v1::ForgetAgentResponse response;
    r = client_.call("ForgetAgent", request, response);
    if (!r.ok() && r.error().code != Code::not_found) return r;
  }
  return {};
}

std::string counted(uint64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string left_of(const RegionView& view, const std::string& region) {
  return counted(view.left(), "record") + " of region " + region +
         (view.at_work ? " are being removed" : " wait for its agent, which is away") +
         (view.example.empty() ? "" : ", such as " + view.example);
}

}  // namespace davit::host
