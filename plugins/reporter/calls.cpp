#include "calls.hpp"

namespace davit::reporter {

class Calls::Unary : public rpc::Handler {
 public:
  Unary(Calls& calls, uint64_t number, Done done)
      : calls_(calls), number_(number), done_(std::move(done)) {}
  void on_message(davit::Buffer m) override { answer_ = std::string(m.view()); }
  void on_done(const rpc::End& end) override {
    calls_.under_way_.erase(number_);
    if (end.code != Code::ok) {
      done_(Error{end.code, end.message});
    } else if (!answer_) {
      done_(Error{Code::internal, "the peer sent no answer"});
    } else {
      done_(std::move(*answer_));
    }
  }

 private:
  Calls& calls_;
  const uint64_t number_;
  const Done done_;
  std::optional<std::string> answer_;
};

void Calls::unary(std::string_view path, std::string request, Done done, const Pairs& metadata) {
  const uint64_t number = ++next_;
  const rpc::Call call =
      channel_.start(path, strand_, std::make_unique<Unary>(*this, number, std::move(done)),
                     metadata, (host_.now() + timeout_).count(), 0);
  under_way_[number] = call;
  call.write(std::move(request));
  call.half_close();
  call.read();
}

void Calls::cancel() {
  for (const auto& [number, call] : under_way_) call.cancel();
}

}  // namespace davit::reporter
