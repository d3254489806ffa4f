// What somebody who mistyped a kind or an id may have meant, from what the running server has.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "named_records.hpp"
#include "operator_client.hpp"

namespace davit::host {

// A server that refuses a kind names those that it knows. Adds the nearest of them to its message:
// `...; did you mean "NAME"?`. Every other message stays as it is.
std::string with_nearest_kind(const std::string& message);

// The kinds that such a message names; empty: it is no such message.
std::vector<std::string> known_kinds(const std::string& message);

// The id among these that `wanted` was probably meant to be, or "". One that differs in its numbers
// alone is another record, and no typing error.
std::string nearest_id(const std::string& wanted, const std::set<std::string, std::less<>>& ids);

// Says of records that are absent what there is instead.
class IdSuggestions {
 public:
  // `region`: where they were looked for; empty: in all.
  IdSuggestions(OperatorClient& client, std::string region)
      : client_(&client), region_(std::move(region)) {}
  // `; did you mean "d_web"?`, `; there is one in region "eu-2"`, or "". Asks the server once for
  // each kind. An error of its answer is no other error of the command.
  std::string after(const RecordName& absent);

 private:
  using Regions = std::map<std::string, std::set<std::string, std::less<>>>;  // their ids
  const Regions& ids_of(const std::string& kind);

  OperatorClient* client_;
  std::string region_;
  std::map<std::string, Regions> kinds_;
};

}  // namespace davit::host
