#include "resolver.hpp"

#include <algorithm>

#include "json_field.hpp"

namespace davit::secrets_file {
namespace {

using secrets::Item;
using secrets::Value;

// One file that many items of a call name would otherwise take any amount of memory.
constexpr size_t call_bytes = 64 << 20, values_of_a_call = 8;

// The file behind a ref can be mended without a change of the item, so it is to be tried again.
Error of_file(Error error) {
  if (error.code == Code::invalid_argument) error.code = Code::unavailable;
  return error.in("its file");
}

}  // namespace

Resolver::Resolver(Keyrings& keyrings, SealedDirectory directory, size_t value_bytes_max)
    : keyrings_(keyrings),
      directory_(std::move(directory)),
      value_bytes_max_(value_bytes_max),
      call_bytes_max_(std::max(call_bytes, values_of_a_call * value_bytes_max)) {}

Result<Value> Resolver::resolve(const Item& item, CallState& state) const {
  if (item.type == DAVIT_SECRET_DECRYPT) return decrypt(item, state);
  if (item.type == DAVIT_SECRET_READ) return read(item, state);
  return Error{Code::unimplemented, "this instance does not know the item's type"};
}

Result<Value> Resolver::decrypt(const Item& item, CallState& state) const {
  const auto sealed = parse(item.ciphertext);
  if (!sealed.ok()) return sealed.error();
  const auto opened = open(*sealed, {item.keyring, {}}, state);
  if (!opened.ok()) return opened.error();
  return value(opened->value(), {}, state);
}

Result<Value> Resolver::read(const Item& item, CallState& state) const {
  if (!directory_.is_set())
    return Error{Code::unimplemented, "this instance only decrypts: `directory` is not set"};
  if (auto r = open_file(item, state); !r.ok()) return r.error();
  const CallState::File& file = *state.file;
  if (!item.version.empty() && item.version != file.version)
    return Error{Code::not_found, "its file has another version"};
  if (item.field.empty()) return value(file.opened.value(), file.version, state);
  const auto field = json_field(file.opened.value(), item.field);
  if (!field.ok()) return field.error();
  return value(field->view(), file.version, state);
}

Result<> Resolver::open_file(const Item& item, CallState& state) const {
  if (state.file && state.file->keyring == item.keyring && state.file->ref == item.ref) return {};
  state.file.reset();
  const auto content = directory_.read(item.ref);
  if (!content.ok()) return content.error();
  const auto sealed = parse(*content);
  if (!sealed.ok()) return of_file(sealed.error());
  auto opened = open(*sealed, {item.keyring, item.ref}, state);
  if (!opened.ok()) return opened.error();
  state.file = CallState::File{item.keyring, item.ref, std::move(*opened), sealed->version()};
  return {};
}

Result<Sealed> Resolver::parse(std::string_view text) const {
  if (text.size() > sealed_text_bytes_max(value_bytes_max_)) return too_large();
  auto sealed = Sealed::parse(text);
  if (sealed.ok() && sealed->value_bytes_most() > value_bytes_max_ + 2 * name_bytes_max)
    return too_large();
  return sealed;
}

Result<Opened> Resolver::open(const Sealed& sealed, const SealedFor& wanted,
                              CallState& state) const {
  const auto keys = keys_of(wanted.keyring, state);
  if (!keys.ok()) return keys.error();
  const bool file = !wanted.ref.empty();
  const auto fault = [file](const Error& error) { return file ? of_file(error) : error; };
  auto opened = sealed.open(**keys);
  if (!opened.ok()) return fault(opened.error());
  if (opened->made_for().keyring != wanted.keyring)
    return fault({Code::invalid_argument,
                  "was sealed for another keyring: seal the value anew (davit-seal --keyring)"});
  if (opened->made_for().ref != wanted.ref)
    return fault({Code::invalid_argument,
                  file ? "was sealed for another ref: seal the value anew (davit-seal --ref)"
                       : "was sealed for a file: seal the value anew (davit-seal without --ref)"});
  if (opened->value().size() > value_bytes_max_) return fault(too_large());
  return opened;
}

SharedKeys Resolver::keys_of(const std::string& keyring, CallState& state) const {
  if (!state.keyring || state.keyring->name != keyring)
    state.keyring = CallState::Keyring{keyring, keyrings_.read(keyring)};
  return state.keyring->keys;
}

Result<Value> Resolver::value(std::string_view plaintext, const std::string& version,
                              CallState& state) const {
  if (plaintext.size() > call_bytes_max_ - state.bytes)
    return Error{Code::resource_exhausted,
                 "the values of this call are too large together: ask for fewer at once"};
  state.bytes += plaintext.size();
  return Value{Secret(plaintext), version, 0};
}

Error Resolver::too_large() const {
  return {Code::invalid_argument,
          "is larger than value_bytes_max (" + std::to_string(value_bytes_max_) + " bytes)"};
}

}  // namespace davit::secrets_file
