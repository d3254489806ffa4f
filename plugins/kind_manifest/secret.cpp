#include "secret.hpp"

#include <algorithm>
#include <set>

#include <boost/json/value.hpp>
#include <davit/base64.hpp>

#include "kubernetes/fields.hpp"
#include "kubernetes/objects.hpp"

namespace davit::manifest {
namespace json = boost::json;
using namespace kubernetes;
namespace {

Error wrong(std::string where, std::string message) {
  return {Code::invalid_argument, std::move(message), std::move(where)};
}

// One entry of `secrets`: {key, decrypt: {keyring, ciphertext}} or {key, read: {keyring, ref,
// field, version}}.
void check_source(const Fields& entry, const Site& site) {
  const std::string key = entry.needed("key");
  if (!key.empty() && !is_data_key(key)) entry.reject("key", "is no key that a Secret can have");
  entry.only({"key", "decrypt", "read"});
  const auto* decrypt = entry.object("decrypt");
  const auto* read = entry.object("read");
  if ((decrypt == nullptr) == (read == nullptr))
    return entry.reject("decrypt", "exactly one of decrypt and read is needed");
  const char* const member = decrypt != nullptr ? "decrypt" : "read";
  const Fields source = entry.inside(decrypt != nullptr ? *decrypt : *read, member);
  const std::string keyring =
      decrypt != nullptr ? source.needed("keyring") : source.string("keyring");
  if (decrypt != nullptr) {
    source.needed("ciphertext");
    source.only({"keyring", "ciphertext"});
  } else {
    source.needed("ref");
    source.string("field");
    source.string("version");
    source.only({"keyring", "ref", "field", "version"});
  }
  const auto& allowed = site.keyrings;
  if (std::find(allowed.begin(), allowed.end(), keyring) == allowed.end())
    source.reject("keyring", "\"" + keyring + "\" is not among the `keyrings` that manifests may " +
                                 "use here");
}

Result<> check_sources(const json::array& list, const Site& site) {
  std::set<std::string_view> keys;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string path = "secrets[" + std::to_string(i) + "]";
    const auto* entry = list[i].if_object();
    if (entry == nullptr) return wrong(path, "must be an object");
    std::optional<Error> fault;
    const json::object none;
    check_source(Fields(none, fault).inside(*entry, path), site);
    if (fault) return *fault;
    if (!keys.insert(text_in(entry, "key")).second) return wrong(path + ".key", "is there twice");
  }
  return {};
}

// Every value in base64, as the API server keeps it. `stringData` is for writing only: who owns a
// value of it cannot be seen later, so a change by others would stay.
Result<> merge_data(json::object& object) {
  json::object merged;
  for (const char* member : {"data", "stringData"}) {
    const auto* values = object.if_contains(member);
    if (values == nullptr || values->is_null()) continue;
    if (!values->is_object()) return wrong(member, "must be an object");
    const bool plain = std::string_view(member) == "stringData";
    for (const auto& [key, value] : values->get_object()) {
      const std::string where = std::string(member) + "[\"" + std::string(key) + "\"]";
      const auto* text = value.if_string();
      if (!is_data_key(key)) return wrong(where, "is no key that a Secret can have");
      if (text == nullptr) return wrong(where, "must be a text");
      if (!plain && !from_base64({text->data(), text->size()}))
        return wrong(where, "must be base64; plain text belongs into stringData");
      merged[key] = plain ? json::string(base64({text->data(), text->size()})) : *text;
    }
  }
  object.erase("stringData");
  object.erase("data");
  if (!merged.empty()) object["data"] = std::move(merged);
  return {};
}

}  // namespace

Result<> read_secret(Wanted& wanted, const Site& site) {
  const auto* secrets = wanted.object.if_contains("secrets");
  if (secrets == nullptr) return merge_data(wanted.object);
  if (!secrets->is_array() || secrets->get_array().empty())
    return wrong("secrets", "must be a list of at least one value");
  for (const char* content : {"data", "stringData"}) {
    if (wanted.object.contains(content))
      return wrong(content, "cannot stand beside secrets: use one of them");
  }
  if (auto r = check_sources(secrets->get_array(), site); !r.ok()) return r;
  wanted.secrets = secrets->get_array();
  wanted.object.erase("secrets");
  return {};
}

}  // namespace davit::manifest
