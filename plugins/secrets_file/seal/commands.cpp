#include "commands.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "ref.hpp"
#include "sealed.hpp"
#include "settings.hpp"
#include "streams.hpp"

namespace davit::secrets_file {
namespace {

constexpr size_t sealed_input_max = sealed_text_bytes_max(value_bytes_limit);

Result<Keys> read_keys(const std::string& file) {
  if (file.starts_with(secret_word))
    return Error{
        Code::invalid_argument,
        "--key names a file: a private key on the command line can be seen by everybody on "
        "this machine, so make another one"};
  const auto content = read_private_file(AT_FDCWD, file, key_file_bytes_max, true);
  if (!content.ok()) return content.error().in(file);
  auto keys = parse_keys(content->view());
  return keys.ok() ? std::move(keys) : keys.error().in(file);
}

// The last public key of a file. Lines that begin with # say nothing.
Result<PublicKey> newest_public(const std::string& file) {
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!opened) return file_fault(errno).in(file);
  LockedBytes content;  // it may be a file of private keys by mistake
  const auto all = read_to_end(opened.get(), key_file_bytes_max, content);
  if (!all.ok()) return all.error().in(file);
  Result<PublicKey> newest = Error{Code::invalid_argument, file + ": has no public key"};
  std::string_view rest = content.view();
  for (size_t number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with(secret_word))
      return Error{Code::invalid_argument, file +
                                               ": has private keys: davit-seal public prints the "
                                               "public key that is needed here"};
    newest = parse_public_key(line);
    if (!newest.ok()) return newest.error().in(file + ": line " + std::to_string(number));
  }
  return newest;
}

Result<PublicKey> public_key_of(const std::string& text_or_file) {
  if (text_or_file.starts_with(public_word)) {
    auto key = parse_public_key(text_or_file);
    return key.ok() ? key : key.error().in("the public key");
  }
  if (text_or_file.starts_with(secret_word))
    return Error{Code::invalid_argument,
                 "--key takes the public key: a private key on the command line can be seen by "
                 "everybody on this machine, so make another one"};
  return newest_public(text_or_file);
}

std::string made_for_text(const SealedFor& made_for) {
  std::string out =
      made_for.keyring.empty() ? "no keyring" : "keyring \"" + made_for.keyring + "\"";
  if (!made_for.ref.empty()) out += ", ref \"" + made_for.ref + "\"";
  return out;
}

struct OpenedInput {
  Keys keys;
  Opened opened;
};

// Opens what is on standard input.
Result<OpenedInput> open_input(const std::string& key_file) {
  auto keys = read_keys(key_file);
  if (!keys.ok()) return keys.error();
  const auto input = read_input(sealed_input_max, "the sealed value");
  if (!input.ok()) return input.error();
  const auto sealed = Sealed::parse(input->view());
  if (!sealed.ok()) return sealed.error().in("the sealed value");
  auto opened = sealed->open(*keys);
  if (!opened.ok()) return opened.error().in("the sealed value");
  return OpenedInput{std::move(*keys), std::move(*opened)};
}

Result<> print_sealed(const PublicKey& key, const SealedFor& made_for, std::string_view value) {
  const auto sealed = Sealed::make(key, made_for, value);
  if (!sealed.ok()) return sealed.error();
  return write_all(STDOUT_FILENO, sealed->text() + "\n");
}

// One line with its end, as of `echo`.
bool is_one_line(std::string_view value) {
  return value.find('\n') == value.size() - 1;
}

std::string_view without_line_ends(std::string_view value) {
  while (!value.empty() && (value.back() == '\n' || value.back() == '\r')) value.remove_suffix(1);
  return value;
}

void doubt(std::string_view value) {
  if (value.empty()) return note("encrypt", "the value is empty");
  if (is_one_line(value))
    note("encrypt", "the value ends with a line end, which is sealed, too: --trim leaves it out");
  if (value.size() > static_cast<size_t>(value_bytes_default))
    note("encrypt",
         "the value has more than 1 MiB: agents refuse it unless their value_bytes_max "
         "is larger");
}

}  // namespace

Result<> show_public(const PublicOptions& options) {
  const auto keys = read_keys(options.file);
  if (!keys.ok()) return keys.error();
  std::string out;
  for (const KeyPair& pair : *keys) {
    if (options.all || &pair == &keys->back()) out += pair.open().text() + "\n";
  }
  return write_all(STDOUT_FILENO, out);
}

Result<> encrypt(const EncryptOptions& options) {
  const auto key = public_key_of(options.key);
  if (!key.ok()) return key.error();
  if (options.ref) {
    if (const std::string fault = ref_fault(*options.ref); !fault.empty())
      return Error{Code::invalid_argument, "--ref " + fault};
  }
  const auto input = read_input(value_bytes_limit, "the value");
  if (!input.ok()) return input.error();
  const std::string_view value = options.trim ? without_line_ends(input->view()) : input->view();
  doubt(value);
  return print_sealed(*key, {options.keyring, options.ref.value_or("")}, value);
}

Result<> decrypt(const DecryptOptions& options) {
  const auto input = open_input(options.key_file);
  if (!input.ok()) return input.error();
  const SealedFor& made_for = input->opened.made_for();
  if (options.keyring.value_or(made_for.keyring) != made_for.keyring ||
      options.ref.value_or(made_for.ref) != made_for.ref)
    return Error{Code::invalid_argument,
                 "the value was sealed for " + made_for_text(made_for) + ", not for that"};
  if (!options.keyring && !options.ref) note("decrypt", "sealed for " + made_for_text(made_for));
  return write_all(STDOUT_FILENO, input->opened.value());
}

Result<> reencrypt(const ReencryptOptions& options) {
  const auto input = open_input(options.key_file);
  if (!input.ok()) return input.error();
  return print_sealed(input->keys.back().open(), input->opened.made_for(), input->opened.value());
}

}  // namespace davit::secrets_file
