#include "blob.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/fields.hpp"

namespace davit::secrets_blob {
namespace json = boost::json;

Result<std::vector<Variable>> read_blob(std::string_view blob, size_t variables_max) {
  std::vector<Variable> out;
  if (blob.empty()) return out;
  const auto parsed = kubernetes::parse_object(blob, "the blob");
  if (!parsed.ok()) return parsed.error();
  std::optional<Error> fault;
  const kubernetes::Fields config(parsed->get_object(), fault);
  config.only({"secrets"});
  const json::object* secrets = config.object("secrets");
  if (fault) return *fault;
  if (secrets == nullptr) return out;
  if (secrets->size() > variables_max) {
    return Error{Code::invalid_argument,
                 "has " + std::to_string(secrets->size()) + " variables; variables_max is " +
                     std::to_string(variables_max),
                 "secrets"};
  }
  const kubernetes::Fields each = config.inside(*secrets, "secrets");
  for (const auto& member : *secrets) {
    std::string name(member.key().data(), member.key().size());
    auto ciphertext = each.optional_string(name);
    if (!ciphertext) each.reject(name, "must be a string");
    if (fault) return *fault;
    out.push_back({std::move(name), std::move(*ciphertext)});
  }
  return out;
}

}  // namespace davit::secrets_blob
