// Calls: unary calls on one channel that can be given up, all on one strand.
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

  // On the strand; `done` comes there, once.
  void unary(std::string_view path, std::string request, Done done, const Pairs& metadata = {});
  // Those under way end soon, with CANCELLED.
  void cancel();
  bool idle() const { return under_way_.empty(); }
  const Host& host() const { return host_; }

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
