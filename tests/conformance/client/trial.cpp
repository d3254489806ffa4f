#include "trial.hpp"

namespace davit::suite {

namespace {

// A client puts its name in front of what the server says.
std::string without_name(std::string message) {
  const size_t colon = message.find(": ");
  return colon == std::string::npos ? message : message.substr(colon + 2);
}

int64_t deadline_of(const Case& c) {
  if (!c.timeout) return INT64_MAX;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::nanoseconds(now + *c.timeout).count();
}

}  // namespace

Trial::Trial(const Strand& strand, const Case& c, Done done)
    : case_(c),
      done_(std::move(done)),
      timer_(strand),
      one_([this](Result<std::string> r) { answer_ = std::move(r); }) {}

void Trial::begin(const rpc::Channel& channel, const Strand& strand, const Case& c, Done done) {
  strand.post([&channel, strand, &c, done = std::move(done)]() mutable {
    std::unique_ptr<Trial> trial(new Trial(strand, c, std::move(done)));
    Trial& self = *trial;
    self.start(channel, strand, std::move(trial));
  });
}

void Trial::start(const rpc::Channel& channel, const Strand& strand, std::unique_ptr<Trial> self) {
  call_ = channel.start(case_.path, strand, std::move(self), case_.headers, deadline_of(case_),
                        case_.streaming);
  one_.call = call_;
  call_.read();
  send_next();
}

void Trial::send_next() {
  if (sent_ == case_.messages.size()) return close();
  timer_.after(case_.delay, [this] { call_.write(case_.messages[sent_]); });
}

void Trial::close() {
  if (std::exchange(closed_, true)) return;
  if (case_.cancel.before_close_send) return call_.cancel();
  call_.half_close();
  if (!case_.cancel.after_close_send) return;
  timer_.after(*case_.cancel.after_close_send, [this] { call_.cancel(); });
}

void Trial::on_writable() {
  ++sent_;
  if (!case_.alternates || received_ >= sent_ || answers_ended_) send_next();
}

void Trial::on_message(Buffer message) {
  ++received_;
  if (!case_.answers_stream) return one_.on_message(std::move(message));
  if (!keep(message.view())) return call_.cancel();
  if (received_ == case_.cancel.after_responses) return call_.cancel();
  call_.read();
  if (case_.alternates && !closed_ && received_ == sent_) send_next();
}

// What a plugin would make of bytes that are no message of the type that it expects.
bool Trial::keep(std::string_view response) {
  if (!is_message(response)) {
    fail(Code::internal, "suite: the answer is not a message of its type", {});
    return false;
  }
  std::string payload;
  for (const Field& f : fields(response)) {
    if (f.number == 1) payload = f.bytes;
  }
  outcome_.payloads.push_back(std::move(payload));
  return true;
}

void Trial::fail(Code code, std::string message, const std::vector<rpc::Detail>& details) {
  Fault& fault = outcome_.error.emplace();
  fault.code = code;
  fault.message = without_name(std::move(message));
  for (const auto& d : details) {
    const std::string url = "type.googleapis.com/" + d.type;
    fault.details.push_back(Writer().bytes(1, url).bytes(2, d.value).take());
  }
}

void Trial::on_done(const rpc::End& end) {
  timer_.cancel();
  outcome_.trailers = end.trailers;
  outcome_.unsent = case_.messages.size() - sent_;
  if (!case_.answers_stream) {
    one_.on_done(end);
    if (answer_->ok()) {
      keep(**answer_);
    } else {
      fail(answer_->error().code, answer_->error().message, end.details);
    }
  } else if (!outcome_.error && end.code != Code::ok) {
    fail(end.code, end.message, end.details);
  }
  done_(outcome_);
}

}  // namespace davit::suite
