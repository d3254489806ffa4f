// Calls: the unary calls of a Sender on one channel. They can be cancelled together. Everything
// runs on one strand.
#pragma once

#include <functional>
#include <map>

#include <davit/rpc.hpp>

namespace davit::reporter {

class Calls {
 public:
  using Done = std::function<void(Result<std::string>)>;

  Calls(Host host, rpc::Channel channel, Strand strand, std::chrono::milliseconds timeout)
      : host_(host), channel_(channel), strand_(std::move(strand)), timeout_(timeout) {}

  // Starts a call with the time limit `timeout`. Calls `done` once, on the strand.
  void unary(std::string_view path, std::string request, Done done, const Pairs& metadata = {});
  // The calls under way end soon, with CANCELLED.
  void cancel();
  bool idle() const { return under_way_.empty(); }
  const Host& host() const { return host_; }
  const Strand& strand() const { return strand_; }

 private:
  class Unary;
  Host host_;
  rpc::Channel channel_;
  Strand strand_;
  std::chrono::milliseconds timeout_;
  std::map<uint64_t, rpc::Call> under_way_;
  uint64_t next_ = 0;
};

}  // namespace davit::reporter
