#include "answer.hpp"

#include <algorithm>

namespace davit::host {

RequestHead request_head(const HttpStream& stream) {
  RequestHead out;
  out.http_major = stream.http_major();
  for (const auto& [key, value] : stream.head()) {
    if (key == ":method") {
      out.verb = value;
    } else if (key == ":path") {
      out.path = value;
    } else if (!key.starts_with(':')) {
      out.headers.emplace_back(key, value);
    }
  }
  return out;
}

void send_answer(HttpStream& stream, const HttpAnswer& answer) {
  Pairs head{{":status", std::to_string(answer.status)}};
  head.insert(head.end(), answer.headers.begin(), answer.headers.end());
  head.emplace_back("content-length", std::to_string(answer.body.size()));
  stream.send_head(head, answer.body.empty());
  if (answer.body.empty()) return;
  stream.send(answer.body);
  stream.end({});
}

bool is_legal_header(const Pairs::value_type& header) {
  const std::string& value = header.second;
  return std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
}

}  // namespace davit::host
