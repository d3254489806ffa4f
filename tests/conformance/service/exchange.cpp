#include "exchange.hpp"

#include <algorithm>
#include <chrono>

namespace davit::suite {

namespace {

// A method can only look up headers that it knows the names of; these are what the suite sends.
constexpr std::string_view echoed[] = {"x-conformance-test", "x-custom-header"};

rpc::Detail detail(std::string_view any) {
  rpc::Detail out;
  for (const Field& f : fields(any)) {
    if (f.number == 1) out.type = f.bytes.substr(f.bytes.rfind('/') + 1);
    if (f.number == 2) out.value = f.bytes;
  }
  return out;
}

std::optional<uint64_t> left_ms(int64_t deadline_ns) {
  if (deadline_ns == INT64_MAX) return std::nullopt;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(std::chrono::nanoseconds(deadline_ns) - now);
  return static_cast<uint64_t>(std::max<int64_t>(left.count(), 0));
}

}  // namespace

Exchange::Exchange(rpc::Call call, const Strand& strand, const Method& method)
    : call_(call), timer_(strand), method_(method), left_ms_(left_ms(call.deadline_ns())) {}

void Exchange::on_message(Buffer message) {
  if (over_) return;
  if (!is_message(message.view())) return refuse("the request is not a message of its type");
  requests_.push_back(any(std::string(method_.name) + "Request", message.view()));
  if (!begun_) {
    begun_ = true;
    Request request = read_request(message.view(), method_.server_streams);
    alternates_ = method_.client_streams && method_.server_streams && request.full_duplex;
    defined_ = request.definition.has_value();
    if (defined_) definition_ = std::move(*request.definition);
    call_.headers(definition_.headers);
  }
  if (alternates_ || !method_.client_streams) return answer();
  call_.read();
}

void Exchange::on_end_of_messages() {
  if (over_) return;
  // As rpc::unary() has it.
  if (!begun_ && !method_.client_streams) {
    over_ = true;
    return call_.finish({Code::unimplemented, "the request message is missing"});
  }
  alternates_ = false;
  answer();
}

void Exchange::on_writable() {
  if (over_ || !method_.server_streams) return;
  if (alternates_) return call_.read();
  answer();
}

void Exchange::on_cancel() {
  timer_.cancel();
  over_ = true;
  call_.finish({Code::cancelled, "the caller has gone"});
}

void Exchange::refuse(std::string why) {
  over_ = true;
  call_.finish({Code::invalid_argument, std::move(why)});
}

void Exchange::answer() {
  if (method_.server_streams && sent_ == definition_.data.size()) return finish();
  timer_.after(definition_.delay, [this] { send(); });
}

void Exchange::send() {
  if (definition_.error && !method_.server_streams) return finish();
  call_.write(Writer().bytes(1, response()).take());
  ++sent_;
  if (alternates_) requests_.clear();
  if (!method_.server_streams) finish();
}

void Exchange::finish() {
  over_ = true;
  rpc::End end;
  end.trailers = definition_.trailers;
  if (definition_.error) {
    end.code = definition_.error->code;
    end.message = definition_.error->message.value_or("");
    end.details = details();
  }
  call_.finish(end);
}

std::string Exchange::response() const {
  Writer payload;
  if (sent_ < definition_.data.size()) payload.bytes(1, definition_.data[sent_]);
  if (sent_ == 0 || alternates_) payload.bytes(2, request_info());
  return payload.take();
}

// Of an error: those that were asked for, and what was asked, unless an answer has said it.
std::vector<rpc::Detail> Exchange::details() const {
  std::vector<rpc::Detail> out;
  for (const auto& d : definition_.error->details) out.push_back(detail(d));
  if (sent_ == 0)
    out.push_back({std::string(package) + "ConformancePayload.RequestInfo", request_info()});
  return out;
}

std::string Exchange::request_info() const {
  Pairs headers;
  for (const std::string_view key : echoed) {
    std::string value = call_.metadata(key);
    if (!value.empty()) headers.emplace_back(key, std::move(value));
  }
  Writer info;
  if (sent_ == 0) write_headers(info, 1, headers);
  if (sent_ == 0 && left_ms_) info.number(2, *left_ms_);
  for (const auto& request : requests_) info.bytes(3, request);
  return info.take();
}

}  // namespace davit::suite
