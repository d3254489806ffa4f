// Sender: sends statuses and progress to one type of peer, for the Reporter. davit_v1.cpp sends
// batches of statuses. ctrl_v1.cpp sends one report for each status, and heartbeats in place of
// progress. Everything runs on the reporter's strand, but what asks a kind: that runs on its pool.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <davit/backoff.hpp>
#include <davit/kind.hpp>

#include "calls.hpp"

namespace davit::reporter {

// The result of a batch.
struct Sent {
  // None: the peer has answered for all statuses except `again`. Otherwise the peer failed or did
  // not answer, and some statuses have an unknown result.
  std::optional<Error> failure;
  std::vector<Status> again;  // to be sent again with a later batch
  // The peer or their kind failed at these statuses only: each is sent again after its own time.
  std::vector<std::pair<Status, std::chrono::milliseconds>> later;
  struct Refusal {
    std::string kind, id, reason;
  };
  std::vector<Refusal> refusals;  // refused for good
};

class Sender {
 public:
  virtual ~Sender() = default;
  // At most one batch at a time. Calls `done` once.
  virtual void send(std::vector<Status> statuses, std::function<void(Sent)> done) = 0;
  // Reports that the agent lives and how far it is. At most one call at a time. The answer is an
  // epoch that an agent of the region has reported with, which ours must be above; 0: none is
  // known.
  virtual void progress(const Progress& progress, std::function<void(Result<Epoch>)> done) = 0;
  // False: the peer takes heartbeats only, so a change of the progress is no reason to send one.
  virtual bool wants_progress() const = 0;
  // Begins no more calls. A kind that is being asked is not asked for more.
  virtual void halt() {}
  // False: a kind is still being asked.
  virtual bool idle() const { return true; }
};

// True: the peer did not answer or cannot answer now. The same call may succeed later.
bool worth_retrying(Code code);

std::unique_ptr<Sender> davit_v1(Calls& calls);
// `parallel`: reports under way at once. `platform`: sent in heartbeats with the region. `retry`:
// the backoff of a record whose report is answered UNKNOWN.
Result<std::unique_ptr<Sender>> ctrl_v1(Calls& calls, const std::vector<kind::Client>& kinds,
                                        size_t parallel, std::string platform,
                                        Backoff::Limits retry = {});

}  // namespace davit::reporter
