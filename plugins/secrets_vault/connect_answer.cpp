#include "connect_answer.hpp"

#include <boost/json.hpp>
#include <davit/ascii.hpp>

#include "secret_store/code_names.hpp"

namespace davit::secrets_vault {
namespace {

namespace json = boost::json;

// An error of Connect is short.
constexpr size_t error_bytes_max = 16u << 10;

// "application/proto" of "Application/Proto; charset=utf-8"
std::string media_type(const http::Response& response) {
  std::string_view type = response.header("content-type");
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return lower_case(type);
}

// The word after "code". The memory of the parser is overwritten: nobody knows what else the body
// says.
std::optional<Code> code_in(std::string_view body) {
  if (body.size() > error_bytes_max) return std::nullopt;
  std::vector<unsigned char> memory(8 * error_bytes_max);
  std::optional<Code> found;
  try {
    json::static_resource resource(memory.data(), memory.size());
    const json::value value = json::parse(body, &resource);
    const auto* object = value.if_object();
    const auto* word = object == nullptr ? nullptr : object->if_contains("code");
    if (word != nullptr && word->is_string())
      found = secret_store::code_named({word->get_string().data(), word->get_string().size()});
  } catch (const std::exception&) {
    // It is no JSON, or too deep for an error of Connect.
  }
  explicit_bzero(memory.data(), memory.size());
  return found;
}

// What Connect makes of an HTTP status without an error of its own.
Code code_of_status(int status) {
  switch (status) {
    case 400:
      return Code::internal;
    case 401:
      return Code::unauthenticated;
    case 403:
      return Code::permission_denied;
    case 404:
      return Code::unimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return Code::unavailable;
    default:
      return Code::unknown;
  }
}

}  // namespace

ConnectAnswer read_answer(const http::Response& response) {
  const std::string type = media_type(response);
  if (response.status == 200) {
    // Compression was not asked for.
    const std::string_view encoding = response.header("content-encoding");
    if (type == "application/proto" && (encoding.empty() || encoding == "identity"))
      return {Code::ok, true};
    return {Code::unknown, false};
  }
  if (type == "application/json") {
    if (const auto code = code_in(response.body.view())) return {*code, true};
  }
  return {code_of_status(response.status), false};
}

}  // namespace davit::secrets_vault
