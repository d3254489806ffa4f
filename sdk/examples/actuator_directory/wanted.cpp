#include "wanted.hpp"

#include <algorithm>
#include <optional>

#include <boost/json.hpp>

namespace acme {
namespace {

namespace json = boost::json;
using davit::Code, davit::Error, davit::Result;

constexpr const char* api_version = "directory.example.com/v1";
constexpr int64_t a_day_ms = 86'400'000;

Error invalid(const std::string& field, std::string message) {
  return {Code::invalid_argument, std::move(message), "spec.providerSpec.value" + field};
}

Result<std::chrono::milliseconds> milliseconds_of(const json::object& value, const char* key) {
  const json::value* found = value.if_contains(key);
  if (found == nullptr) return std::chrono::milliseconds(0);
  if (!found->is_int64() || found->as_int64() < 0 || found->as_int64() > a_day_ms)
    return invalid("." + std::string(key), "is no number of milliseconds, up to a day");
  return std::chrono::milliseconds(found->as_int64());
}

}  // namespace

bool is_file_name(const std::string& text) {
  return !text.empty() && text.size() <= 200 && text[0] != '.' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.' || c == '_';
         });
}

Result<Wanted> wanted_of(const std::string& cluster) {
  json::parse_options deep;
  deep.max_depth = 512;
  json::error_code bad;
  const json::value parsed = json::parse(cluster, bad, {}, deep);
  if (bad) return Error{Code::invalid_argument, "the cluster is no JSON"};
  const json::value* value = parsed.find_pointer("/spec/providerSpec/value", bad);
  if (value == nullptr || !value->is_object()) return invalid("", "is no object");
  const json::object& o = value->as_object();
  const json::value* version = o.if_contains("apiVersion");
  if (version == nullptr || !version->is_string() || version->as_string() != api_version)
    return Error{Code::unimplemented, "is not of " + std::string(api_version),
                 "spec.providerSpec.value.apiVersion"};
  const json::value* files = o.if_contains("files");
  if (files == nullptr || !files->is_object())
    return invalid(".files", "is no object with the content of files");
  Wanted out;
  for (const auto& [name, content] : files->as_object()) {
    if (!is_file_name(name)) return invalid(".files", "has a key that is no name of a file");
    if (!content.is_string()) return invalid(".files." + std::string(name), "is no text");
    out.files.emplace(name, content.as_string());
  }
  const auto boot = milliseconds_of(o, "boot_ms"), step = milliseconds_of(o, "step_ms");
  if (!boot.ok()) return boot.error();
  if (!step.ok()) return step.error();
  out.boot = *boot;
  out.step = *step;
  return out;
}

}  // namespace acme
