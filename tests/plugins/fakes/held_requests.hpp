// Requests to a cluster that are not answered yet, and know whether their callers have given up.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <davit/cluster.hpp>
#include <davit/operation.hpp>

namespace davit::testing {

class HeldRequests {
 public:
  using Done = std::function<void(cluster::Response)>;

  void hold(const Op& op, const cluster::Request& request, Done done) {
    auto& held = held_.emplace_back(new Held{op, request, std::move(done)});
    held->told.emplace(op, [mark = &held->given_up] { *mark = true; });
  }
  // Hands them all to `answer`, which gets the op, the request and its callback.
  template <class Answer>
  void release(Answer answer) {
    for (const auto& held : std::exchange(held_, {})) {
      held->told.reset();
      answer(held->op, held->request, std::move(held->done));
    }
  }
  // Answers those whose callers have given up.
  void let_go() {
    for (size_t n = held_.size(); n-- > 0;) {
      if (!held_[n]->given_up) continue;
      const auto held = std::move(held_[n]);
      held_.erase(held_.begin() + static_cast<ptrdiff_t>(n));
      held->told.reset();
      cluster::Response r;
      r.code = Code::cancelled;
      r.message = "the caller has given up";
      held->done(std::move(r));
    }
  }

 private:
  struct Held {
    Op op;
    cluster::Request request;
    Done done;
    std::atomic<bool> given_up{false};
    std::optional<OnCancel> told{};
  };
  std::vector<std::unique_ptr<Held>> held_;
};

}  // namespace davit::testing
