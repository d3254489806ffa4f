// What a Vault answers: a message with values, and an error of Connect.
#include <outcome.hpp>

#include "choice.hpp"
#include "require.hpp"

namespace {

using namespace davit;
using secrets_vault::Outcome;

// Of the call number 1 with three items: their names are 1-0, 1-1 and 1-2.
constexpr uint64_t call = 1;
constexpr size_t count = 3;

void message(std::string_view body) {
  const auto decoded = secrets_vault::decode_response(body, count, call);
  if (!fuzz::no_bug(decoded, "decode_response").ok()) return;
  fuzz::require(decoded->values.size() == count, "there is a place for each item");
  size_t bytes = 0;
  for (const auto& value : decoded->values) bytes += value ? value->size() : 0;
  fuzz::require(bytes <= body.size(), "values come from the answer");
}

void answer(int status, const char* type, std::string_view body) {
  http::Response response;
  response.status = status;
  response.headers.emplace_back("content-type", type);
  response.body.append(body);
  const Outcome out = secrets_vault::outcome_of(response, count, call);
  if (out.meaning == Outcome::Meaning::decrypted) return;
  fuzz::require(out.error.code != Code::ok, "what is no value is an error");
  fuzz::require(!out.error.message.empty(), "an error says what is wrong");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto [entry, rest] = fuzz::choose(data, size);
  if (entry == "message") {
    message(rest);
    answer(200, "application/proto", rest);
  } else {
    answer(500, "application/json", rest);
  }
  return 0;
}
