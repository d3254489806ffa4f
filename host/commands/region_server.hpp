// What a server says of one region, and what is taken out of it: the calls of the operator's API
// by which a region is given up (davit agent leave, davit clusters join-regions).
#pragma once

#include <cstdint>
#include <string>

#include <davit/types.hpp>

#include "operator_client.hpp"

namespace davit::v1 {
class ListResponse;
}

namespace davit::host {

struct RegionView {
  int agents = 0;               // that the server knows
  int64_t seen_at_unix_ms = 0;  // when the last of them was heard of
  uint64_t lag = 0;             // changes that agents at work have not applied yet
  uint64_t objects = 0;         // of deleted records, that are still there
  std::string example;          // one of them: "deployment d_web"
  bool at_work = false;         // one of them was heard of within agent_silent_after_ms

  uint64_t left() const { return lag > objects ? lag : objects; }
};

// Its records.
struct RegionRecords {
  uint64_t count = 0;
  std::string example;  // one of them: "deployment d_web"
};

class RegionServer {
 public:
  RegionServer(OperatorClient& client, std::string region)
      : client_(client), region_(std::move(region)) {}

  Result<RegionView> look(int64_t now_unix_ms) const;
  Result<RegionRecords> records() const;
  // Deletes all records of the region; how many there were. FAILED_PRECONDITION: one is refused.
  Result<size_t> delete_records() const;
  // Forgets all agents of the region.
  Result<> forget_agents() const;

 private:
  Result<size_t> delete_page(const v1::ListResponse& page) const;

  OperatorClient& client_;
  std::string region_;
};

// An agent that was heard of in this time is at work: it says something every 30 s.
inline constexpr int64_t agent_silent_after_ms = 60'000;

// "1 record", "2 records".
std::string counted(uint64_t count, const std::string& thing);
// What is waited for while something is left: "2 records of region eu-1 are being removed, such as
// deployment d_web".
std::string left_of(const RegionView& view, const std::string& region);

}  // namespace davit::host
