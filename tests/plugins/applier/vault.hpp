// A secrets instance: it knows some ciphertexts, fails for others, and may be away.
#pragma once

#include <davit/secrets.hpp>
#include <map>
#include <optional>
#include <set>

namespace davit::applier::test {

class Vault {
 public:
  std::map<std::string, std::string> plaintexts;  // by ciphertext
  std::map<std::string, Error> errors;            // by ciphertext
  std::optional<Error> away;
  int64_t valid_until_unix_ms = 0;
  std::multiset<std::string> asked;  // keyring and ciphertext

  void resolve(const Op&, const std::vector<secrets::Item>& items, const secrets::Done& done) {
    secrets::Results results;
    for (const auto& item : items) {
      asked.insert(item.keyring + " " + item.ciphertext);
      const auto error = errors.find(item.ciphertext);
      const auto plaintext = plaintexts.find(item.ciphertext);
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
