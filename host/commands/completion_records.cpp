#include "completion_records.hpp"

#include <set>

#include <davit/v1/operator.pb.h>

#include "operator_client.hpp"
#include "record_pages.hpp"
#include "suggestions.hpp"

namespace davit::host {
namespace {

constexpr std::chrono::milliseconds patience{80};  // with the start of davit, 100 ms at most
constexpr size_t candidates_max = 200;             // nobody reads more
constexpr uint32_t completed_page_size = 200;

std::set<std::string> kinds_there(OperatorClient& client) {
  // A server refuses a kind that it does not know, and names those that it knows.
  v1::ListRequest request;
  request.set_kind("?");
  v1::ListResponse response;
  const auto refused = client.call("List", request, response);
  if (refused.ok()) return {};
  const std::vector<std::string> known = known_kinds(refused.error().message);
  return {known.begin(), known.end()};
}

std::set<std::string> regions_there(OperatorClient& client) {
  std::set<std::string> out;
  v1::StatusResponse response;
  const auto ended = client.list("ListStatus", v1::StatusRequest(), response, [&] {
    for (const auto& agent : response.agents()) out.insert(agent.region());
    for (const auto& object : response.objects()) out.insert(object.region());
  });
  (void)ended;  // it may have had no time for all
  return out;
}

std::set<std::string> ids_there(OperatorClient& client, const Completion& completion) {
  std::set<std::string> out;
  v1::ListRequest request;
  request.set_kind(completion.kind);
  request.set_region(completion.region);
  request.set_page_size(completed_page_size);
  const std::string before = completion.pairs ? completion.kind + "/" : "";
  const auto ended = list_records(client, request, [&](v1::ListResponse& page) -> Result<bool> {
    for (const auto& record : page.records()) {
      std::string word = before + record.document().id();
      if (word.starts_with(completion.typed)) out.insert(std::move(word));
    }
    return out.size() < candidates_max;
  });
  (void)ended;  // it may have had no time for all
  return out;
}

}  // namespace

void add_known_records(Completion& completion) {
  if (completion.records == Completion::Records::none) return;
  ServerAddress address;
  Command options("options", "", "");
  address.add_options(options);
  std::vector<std::string> words;
  for (const char* name : {"server", "token-file", "ca-file"}) {
    const auto value = completion.options.find(name);
    if (value != completion.options.end())
      words.push_back("--" + value->first + "=" + value->second);
  }
  try {
    options.parse(std::move(words));
  } catch (const CLI::ParseError&) {
    return;
  }
  address.timeout = patience;
  auto client = OperatorClient::open(address);
  if (!client.ok()) return;
  std::set<std::string> found;
  if (completion.records == Completion::Records::kinds) found = kinds_there(*client);
  if (completion.records == Completion::Records::regions) found = regions_there(*client);
  if (completion.records == Completion::Records::ids) found = ids_there(*client, completion);
  for (const std::string& word : found) {
    const bool fits = word.starts_with(completion.typed);
    if (fits && completion.candidates.size() < candidates_max)
      completion.candidates.push_back({word, ""});
  }
}

}  // namespace davit::host
