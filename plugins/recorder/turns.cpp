#include "turns.hpp"

namespace davit::recorder {

// An empty call costs something, too.
size_t Turns::cost(size_t bytes) {
  constexpr size_t overhead = 512;
  return bytes + overhead;
}

Result<std::vector<Turns::Job>> Turns::enter(const std::string& region, size_t bytes, Job job) {
  return enter(region, bytes, std::move(job), limits_.waiting_bytes);
}

Result<std::vector<Turns::Job>> Turns::enter_refusal(const std::string& region, Job job) {
  return enter(region, 0, std::move(job), 2 * limits_.waiting_bytes);
}

Result<std::vector<Turns::Job>> Turns::enter(const std::string& region, size_t bytes, Job job,
                                             size_t most) {
  const std::lock_guard lock(mutex_);
  Queue& queue = regions_[region];
  if (!queue.waiting.empty() && queue.waiting_bytes + cost(bytes) > most) {
    return Error{Code::resource_exhausted,
                 "too many calls of region \"" + region + "\" wait: wait for the answers",
                 {},
                 std::chrono::seconds(1)};
  }
  queue.waiting_bytes += cost(bytes);
  queue.waiting.push_back({cost(bytes), std::move(job)});
  return next(queue);
}

std::vector<Turns::Job> Turns::leave(const std::string& region, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto at = regions_.find(region);
  Queue& queue = at->second;
  queue.working -= cost(bytes);
  std::vector<Job> out = next(queue);
  if (queue.working == 0 && queue.waiting.empty()) regions_.erase(at);
  return out;
}

std::vector<Turns::Job> Turns::next(Queue& queue) const {
  std::vector<Job> out;
  while (!queue.waiting.empty()) {
    Waiting& first = queue.waiting.front();
    if (queue.working > 0 && queue.working + first.bytes > limits_.working_bytes) break;
    queue.working += first.bytes;
    queue.waiting_bytes -= first.bytes;
    out.push_back(std::move(first.job));
    queue.waiting.pop_front();
  }
  return out;
}

}  // namespace davit::recorder
