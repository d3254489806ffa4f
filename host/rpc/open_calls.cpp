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
  if (calls_.empty()) none_.notify_all();
}

size_t OpenCalls::size() const {
  const std::lock_guard lock(mutex_);
  return calls_.size();
}

// Outside of the lock, for what is done to a call may remove it.
template <class Each>
void OpenCalls::each(Each&& f) {
  std::vector<ServedCall*> held;
  {
    const std::lock_guard lock(mutex_);
    for (ServedCall* call : calls_) {
      if (call->try_retain()) held.push_back(call);
    }
  }
  for (ServedCall* call : held) {
    f(*call);
    call->release();
  }
}

void OpenCalls::ask_streams_to_end() {
  each([](ServedCall& call) {
    if (call.method().streams_answers()) call.ask_to_end();
  });
}

void OpenCalls::end_all(const End& end) {
  each([&](ServedCall& call) { call.end_now(end); });
}

bool OpenCalls::wait_until_none(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return none_.wait_until(lock, deadline, [this] { return calls_.empty(); });
}

}  // namespace davit::host
