// One case on its way: makes the call that the case describes and says what came of it.
#pragma once

#include <davit/rpc.hpp>

#include "case.hpp"

namespace davit::suite {

class Trial final : public rpc::Handler {
 public:
  using Done = std::function<void(const Outcome&)>;

  // `done` runs once, on the strand.
  static void begin(const rpc::Channel&, const Strand&, const Case&, Done);

  void on_message(Buffer) override;
  void on_end_of_messages() override { answers_ended_ = true; }
  void on_writable() override;
  void on_headers(const Pairs& headers) override { outcome_.headers = headers; }
  void on_done(const rpc::End&) override;

 private:
  Trial(const Strand&, const Case&, Done);
  void start(const rpc::Channel&, const Strand&, std::unique_ptr<Trial> self);
  void send_next();
  void close();
  bool keep(std::string_view response);
  void fail(Code, std::string message, const std::vector<rpc::Detail>& details);

  const Case& case_;
  Done done_;
  rpc::Call call_;
  Timer timer_;
  // Judges a call that has one answer, as the SDK does it for plugins.
  rpc::detail::UnaryCall one_;
  std::optional<Result<std::string>> answer_;
  size_t sent_ = 0, received_ = 0;
  bool closed_ = false, answers_ended_ = false;
  Outcome outcome_;
};

}  // namespace davit::suite
