// Sender: how statuses and progress reach one sort of peer. davit_v1.cpp sends batches of
// envelopes; ctrl_v1.cpp one report a status and a heartbeat. All on the strand of the reporter.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <davit/backoff.hpp>
#include <davit/kind.hpp>

#include "calls.hpp"

namespace davit::reporter {

// What became of a batch.
struct Sent {
  // None: the peer has answered for all but `again`. Otherwise it did not answer, and nothing is
  // known.
  std::optional<Error> failure;
  std::vector<Status> again;  // to be sent once more, though not at once
  // The peer has failed at these alone: each is sent once more after so long.
  std::vector<std::pair<Status, std::chrono::milliseconds>> later;
  struct Refusal {
    std::string kind, id, reason;
  };
  std::vector<Refusal> refusals;  // not taken, and never will be
};

class Sender {
 public:
  virtual ~Sender() = default;
  // At most one at a time; `done` comes once.
  virtual void send(std::vector<Status> statuses, std::function<void(Sent)> done) = 0;
  // That the agent lives, and where it stands. At most one at a time. The answer: an epoch that
  // ours must be above, because an agent of the region has spoken with it; 0: there is none.
  virtual void progress(const Progress& progress, std::function<void(Result<uint64_t>)> done) = 0;
  // False: the peer takes no progress, so there is no hurry to send when something changes.
  virtual bool wants_progress() const = 0;
};

// True: the peer did not answer, or cannot just now; the same may succeed later.
bool worth_retrying(Code code);

std::unique_ptr<Sender> davit_v1(Calls& calls);
// `parallel`: reports under way at once. `platform`: what heartbeats say besides the region.
// `retry`: of a report that is answered UNKNOWN.
Result<std::unique_ptr<Sender>> ctrl_v1(Calls& calls, const std::vector<kind::Client>& kinds,
                                        size_t parallel, std::string platform,
                                        Backoff::Limits retry = {});

}  // namespace davit::reporter
