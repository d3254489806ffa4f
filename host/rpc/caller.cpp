#include "caller.hpp"

#include "certificate.hpp"
#include "services/log.hpp"
#include "unreachable.hpp"

namespace davit::host {

Result<Pairs> Caller::metadata() {
  Pairs out;
  if (!settings_.token_file.empty()) {
    auto token = token_.get();
    if (!token.ok()) return token.error();
    out.emplace_back("authorization", "Bearer " + *token);
  }
  if (!settings_.region.empty()) out.emplace_back("x-krane-region", settings_.region);
  if (!settings_.platform.empty()) out.emplace_back("x-krane-platform", settings_.platform);
  return out;
}

Result<> Caller::check() {
  const auto r = [&]() -> Result<> {
    if (auto m = metadata(); !m.ok()) return m.error();
    if (!settings_.ca_file.empty()) {
      if (auto c = read_ca(settings_.ca_file); !c.ok()) return c.error();
    }
    if (settings_.certificate_file.empty()) return {};
    auto c = read_certificate(settings_.certificate_file, settings_.key_file);
    return c.ok() ? Result<>() : c.error();
  }();
  return r.ok() ? r : r.error().in("rpc.client." + settings_.name);
}

void Caller::describe(End& end) {
  if (end.code == Code::ok) return is_answered();
  end.message = settings_.name + ": " + end.message;
  // These codes also arise without any answer of a server. Every other code proves an answer.
  const bool silent = end.code == Code::unavailable || end.code == Code::cancelled ||
                      end.code == Code::deadline_exceeded;
  if (!silent) is_answered();
  if (end.code == Code::unavailable && !answered_.load(std::memory_order_relaxed))
    end.message += hint_of(settings_.url, end.message);
}

void Caller::log_misuse(const std::string& path, const char* what) {
  log_.error("rpc", "caller broke the contract",
             {{"client", settings_.name}, {"method", path}, {"what", what}});
}

void Caller::begun(StartedCall* call) {
  const std::lock_guard lock(mutex_);
  open_.insert(call);
}

void Caller::ended(StartedCall* call) {
  const std::lock_guard lock(mutex_);
  open_.erase(call);
  if (open_.empty()) none_.notify_all();
}

bool Caller::end_all(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  for (StartedCall* call : open_) call->cancel();
  return none_.wait_until(lock, deadline, [this] { return open_.empty(); });
}

}  // namespace davit::host
