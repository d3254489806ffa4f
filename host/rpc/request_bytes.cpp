#include "request_bytes.hpp"

#include "core.hpp"
#include "services/log.hpp"
#include "services/metrics.hpp"

namespace davit::host {

namespace {

constexpr size_t of_a_caller = 2, of_strangers = 16;  // divisors of the whole limit

davit_metric* requests_metric(const Core& core, int32_t type, const char* name, const char* help,
                              const std::string& server) {
  const davit_pair label{str("server"), str(server)};
  return core.metrics.metric(type, name, help, &label, 1);
}

}  // namespace

RequestBytes::RequestBytes(const Core& core, const std::string& server, size_t most)
    : server_(server),
      most_(most),
      log_(core.log),
      bytes_(requests_metric(core, DAVIT_GAUGE, "davit_rpc_request_bytes",
                             "bytes of requests that have come or were announced, and that no "
                             "method has yet",
                             server)),
      refused_(requests_metric(core, DAVIT_COUNTER, "davit_rpc_requests_refused_total",
                               "requests that found no room in requests_bytes_max", server)) {}

RequestBytes::Share::~Share() {
  (void)of_.resize(*this, 0, 0, false);
}

Result<> RequestBytes::Share::hold(size_t bytes) {
  const std::lock_guard lock(of_.mutex_);
  return of_.resize(*this, bytes, passed_, true);
}

void RequestBytes::Share::pass(size_t message, size_t held) {
  const std::lock_guard lock(of_.mutex_);
  (void)of_.resize(*this, held, message, false);
}

void RequestBytes::Share::taken() {
  const std::lock_guard lock(of_.mutex_);
  (void)of_.resize(*this, held_, 0, false);
}

// Call with the mutex held.
Result<> RequestBytes::resize(Share& share, size_t held, size_t passed, bool may_refuse) {
  const size_t before = share.held_ + share.passed_, now = held + passed;
  if (now == before) {
    share.held_ = held;
    share.passed_ = passed;
    return {};
  }
  auto& of_caller = *callers_.try_emplace(share.whose_, 0).first;
  if (may_refuse && now > before) {
    const size_t more = now - before;
    const size_t most = most_ / (share.whose_.empty() ? of_strangers : of_a_caller);
    const bool all = size_ + more > most_;
    if (all || of_caller.second + more > most) {
      const size_t by_others = (all ? size_ : of_caller.second) - before;
      if (of_caller.second == 0) callers_.erase(share.whose_);
      return no_room(share, now, by_others, all ? most_ : most);
    }
  }
  size_ += now - before;
  of_caller.second += now - before;
  if (of_caller.second == 0) callers_.erase(share.whose_);
  share.held_ = held;
  share.passed_ = passed;
  Metrics::set(bytes_, static_cast<double>(size_));
  return {};
}

Error RequestBytes::no_room(const Share& share, size_t wanted, size_t taken, size_t most) {
  const char* whose = most == most_          ? "all callers"
                      : share.whose_.empty() ? "callers without credentials"
                                             : "one credential at one address";
  Metrics::add(refused_, 1);
  if (full_.happens(std::chrono::steady_clock::now())) {
    log_.warn("rpc", "requests are refused",
              {{"server", server_},
               {"limit", "requests_bytes_max"},
               {"most", std::to_string(most)},
               {"of", whose},
               {"caller", share.whose_}});
  }
  return {Code::resource_exhausted,
          "no room for a request of " + std::to_string(wanted) + " bytes: " +
              std::to_string(taken) + " of the " + std::to_string(most) + " bytes for " + whose +
              " are taken (requests_bytes_max = " + std::to_string(most_) + "); try again later"};
}

void RequestBytes::look_after() {
  const std::lock_guard lock(mutex_);
  if (const auto times = full_.is_over(std::chrono::steady_clock::now())) {
    log_.info("rpc", "requests are taken again",
              {{"server", server_}, {"refused", std::to_string(*times)}});
  }
}

size_t RequestBytes::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

size_t RequestBytes::callers() const {
  const std::lock_guard lock(mutex_);
  return callers_.size();
}

}  // namespace davit::host
