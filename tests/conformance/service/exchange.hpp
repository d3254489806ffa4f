// One call of the suite's service: what its first request defines is what it answers. The comments
// of connectrpc/conformance/v1/service.proto have the rules.
#pragma once

#include <cstdint>
#include <optional>

#include <davit/rpc.hpp>

#include "messages.hpp"

namespace davit::suite {

struct Method {
  std::string_view name;
  bool client_streams = false, server_streams = false;
};

class Exchange final : public rpc::Handler {
 public:
  // Reading has to be granted once by whoever makes it.
  Exchange(rpc::Call call, const Strand& strand, const Method& method);

  void on_message(Buffer) override;
  void on_end_of_messages() override;
  void on_writable() override;
  void on_cancel() override;

 private:
  void answer();
  void send();
  void finish();
  void refuse(std::string why);
  std::string response() const;
  std::string request_info() const;
  std::vector<rpc::Detail> details() const;

  rpc::Call call_;
  Timer timer_;
  const Method& method_;
  const std::optional<uint64_t> left_ms_;  // of the call's time when it began
  bool begun_ = false;                     // the first request is there
  bool alternates_ = false;                // one answer to each request
  bool over_ = false;
  Definition definition_;
  bool defined_ = false;
  std::vector<std::string> requests_;  // each an Any; with alternates_, those since the last answer
  size_t sent_ = 0;
};

}  // namespace davit::suite
