#include "open_calls.hpp"

#include <vector>

#include "served_call.hpp"

namespace davit::host {

void OpenCalls::add(ServedCall* call) {
  const std::lock_guard lock(mutex_);
  calls_.insert(call);
}

void OpenCalls::remove(ServedCall* call) {
  const std::lock_guard lock(mutex_);
  calls_.erase(call);
  expected_.erase(call);
  revoked_.erase(call);
  if (calls_.empty()) none_.notify_all();
}

size_t OpenCalls::size() const {
  const std::lock_guard lock(mutex_);
  return calls_.size();
}

OpenCalls::Place OpenCalls::enter(const std::string& connection, size_t most) {
  const std::lock_guard lock(mutex_);
  auto& entry = *connections_.try_emplace(connection).first;
  Calls& calls = entry.second;
  if (calls.over || calls.open >= most) return {nullptr, !std::exchange(calls.over, true)};
  ++calls.open;
  return {&entry, false};
}

void OpenCalls::leave(Connection* connection) {
  const std::lock_guard lock(mutex_);
  if (--connection->second.open == 0) connections_.erase(connections_.find(connection->first));
}

void OpenCalls::expect(ServedCall* call) {
  const std::lock_guard lock(mutex_);
  expected_.emplace(call, std::chrono::steady_clock::now());
}

void OpenCalls::arrived(ServedCall* call) {
  const std::lock_guard lock(mutex_);
  expected_.erase(call);
}

// Calls `f` without the lock, because `f` may end and remove the call.
template <class Which, class Each>
void OpenCalls::each(Which&& which, Each&& f) {
  std::vector<ServedCall*> held;
  {
    const std::lock_guard lock(mutex_);
    which([&](ServedCall* call) {
      if (call->try_retain()) held.push_back(call);
    });
  }
  for (ServedCall* call : held) {
    f(*call);
    call->release();
  }
}

void OpenCalls::ask_streams_to_end() {
  each(
      [this](auto&& take) {
        for (auto* call : calls_) take(call);
      },
      [](ServedCall& call) {
        if (call.method().streams_answers()) call.ask_to_end();
      });
}

void OpenCalls::end_all(const End& end) {
  each(
      [this](auto&& take) {
        for (auto* call : calls_) take(call);
      },
      [&](ServedCall& call) { call.end_now(end); });
}

void OpenCalls::end_late(std::chrono::steady_clock::time_point since, const End& end) {
  each(
      [&](auto&& take) {
        for (const auto& [call, began] : expected_) {
          if (began < since) take(call);
        }
      },
      [&](ServedCall& call) { call.end_now(end); });
}

void OpenCalls::end_revoked(const End& end) {
  constexpr int patience = 2;
  std::unordered_set<ServedCall*> deaf;
  each(
      [&](auto&& take) {
        for (ServedCall* call : calls_) {
          if (!call->who().is_revoked()) continue;
          if (++revoked_[call] > patience) deaf.insert(call);
          take(call);
        }
      },
      [&](ServedCall& call) {
        call.end_now(end);
        if (deaf.contains(&call)) call.drop();
      });
}

bool OpenCalls::wait_until_none(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return none_.wait_until(lock, deadline, [this] { return calls_.empty(); });
}

}  // namespace davit::host
