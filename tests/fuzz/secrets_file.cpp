// What secrets_file reads: sealed values of records and files, what whoever has the public key puts
// into a box, key files, and one field of a plaintext.
#include <boost/json.hpp>

#include "choice.hpp"
#include "json_field.hpp"
#include "require.hpp"
#include "sealed.hpp"

namespace {

namespace json = boost::json;
using namespace davit;
using namespace davit::secrets_file;

const Keys& keys() {
  static const Keys all = [] {
    fuzz::require(sodium_init() >= 0, "libsodium can be used");
    Keys out;
    for (int n = 0; n < 2; ++n) out.push_back(KeyPair::generate());
    return out;
  }();
  return all;
}

// A value of the wire, as it stands: what can be read can be written and read again.
void sealed(std::string_view bytes) {
  const auto first = Sealed::parse(bytes);
  if (!fuzz::no_bug(first, "Sealed::parse").ok()) return;
  const auto again = Sealed::parse(first->text());
  fuzz::require(again.ok() && again->version() == first->version(), "the text is the same value");
  fuzz::no_bug(first->open(keys()), "Sealed::open");
}

// What somebody else has put into a box for this key.
void payload(std::string_view bytes) {
  LockedBytes copy(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
  const auto opened = Opened::parse(std::move(copy));
  if (!fuzz::no_bug(opened, "Opened::parse").ok()) return;
  const auto& [keyring, ref] = opened->made_for();
  fuzz::require(bytes.size() == 4 + keyring.size() + ref.size() + opened->value().size(),
                "names and value are all of it");
  const auto again = Sealed::make(keys().front().open(), opened->made_for(), opened->value());
  fuzz::require(again.ok(), "what was opened can be sealed");
  const auto back = again->open(keys());
  fuzz::require(
      back.ok() && back->made_for() == opened->made_for() && back->value() == opened->value(),
      "a value survives the way through a box");
}

void key_file(std::string_view content) {
  fuzz::no_bug(parse_public_key(content), "parse_public_key");
  const auto read = parse_keys(content);
  if (!fuzz::no_bug(read, "parse_keys").ok()) return;
  for (const KeyPair& pair : *read) {
    const auto again = parse_keys(key_file_lines(pair, "today").view());
    fuzz::require(again.ok() && again->front().open() == pair.open(), "a key can be written");
  }
}

// The first line is the field, the rest the plaintext. Boost's own values are the judge.
void field(std::string_view input) {
  const size_t end = std::min(input.find('\n'), input.size());
  const std::string_view name = input.substr(0, end);
  const std::string_view text = input.substr(std::min(end + 1, input.size()));
  const auto found = json_field(text, name);
  fuzz::no_bug(found, "json_field");
  json::error_code fault;
  const json::value all = json::parse(text, fault);
  const bool object = !fault && all.is_object();
  const json::value* value = object ? all.as_object().if_contains(name) : nullptr;
  if (value == nullptr) {
    fuzz::require(!found.ok() && found.error().code == Code::not_found, "no value, no field");
  } else if (found.ok()) {
    fuzz::require(value->is_primitive() && !value->is_null(), "a field is no object");
    fuzz::require(!value->is_string() || found->view() == std::string_view(value->as_string()),
                  "a text is what it means");
    fuzz::require(value->is_string() || json::parse(found->view()) == *value,
                  "a number is what is written");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  keys();
  const auto [entry, rest] = fuzz::choose(data, size);
  if (entry == "sealed") sealed(rest);
  if (entry == "payload") payload(rest);
  if (entry == "keys") key_file(rest);
  if (entry == "field") field(rest);
  return 0;
}
