// A secrets instance: it knows some ciphertexts, fails for others, and may be away.
#pragma once

#include <davit/secrets.hpp>
#include <map>
#include <optional>
#include <set>

namespace davit::applier::test {

class Vault {
 public:
  std::map<std::string, std::string> plaintexts;  // by ciphertext, or ref and field
  std::map<std::string, Error> errors;            // the same
  std::optional<Error> away;
  int64_t valid_until_unix_ms = 0;
  std::multiset<std::string> asked;  // keyring and ciphertext

  void resolve(const Op&, const std::vector<secrets::Item>& items, const secrets::Done& done) {
    secrets::Results results;
    for (const auto& item : items) {
      const bool read = item.type == DAVIT_SECRET_READ;
      const std::string what = read ? item.ref + " " + item.field : item.ciphertext;
      asked.insert(item.keyring + " " + what);
      const auto error = errors.find(what);
      const auto plaintext = plaintexts.find(what);
      if (away) {
        results.emplace_back(*away);
      } else if (error != errors.end()) {
        results.emplace_back(error->second);
      } else if (plaintext == plaintexts.end()) {
        results.emplace_back(
            Error{Code::invalid_argument, "it was made with another key", item.keyring});
      } else {
        results.emplace_back(secrets::Value{Secret(plaintext->second), {}, valid_until_unix_ms});
      }
    }
    done(std::move(results));
  }
};

}  // namespace davit::applier::test
