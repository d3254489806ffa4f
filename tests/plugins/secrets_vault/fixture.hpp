// Instances of the built plugin, beside a Vault in Node.
#pragma once

#include <gtest/gtest.h>

#include <davit/base64.hpp>
#include <davit/operation.hpp>
#include <davit/secrets.hpp>
#include <davit/testing/module.hpp>
#include <fstream>
#include <future>

#include "vault_server.hpp"

namespace davit::secrets_vault {

using secrets::Item;
using secrets::Results;
using test::VaultServer;
using testing::Config;
using namespace std::chrono_literals;

#ifdef DAVIT_SANITIZED
constexpr auto patience = 240s;
#else
constexpr auto patience = 60s;
#endif

inline const davit_plugin* plugin() {
  static const auto loaded = testing::Loaded::open(SECRETS_VAULT_SO);
  if (!loaded.ok()) throw std::runtime_error(loaded.error().message);
  return loaded->plugin();
}

// As vault.mjs decrypts it.
inline std::string encrypted(const std::string& keyring, const std::string& plaintext) {
  return base64(keyring + " " + plaintext);
}
inline Item item(const std::string& keyring, const std::string& plaintext) {
  return {DAVIT_SECRET_DECRYPT, keyring, encrypted(keyring, plaintext), {}, {}, {}};
}
// Encrypted for another keyring.
inline Item bad_item(const std::string& keyring, const std::string& plaintext = "x") {
  return {DAVIT_SECRET_DECRYPT, keyring, encrypted("another", plaintext), {}, {}, {}};
}

// "value", or "CODE: message".
inline std::string told(const Result<secrets::Value>& result) {
  if (result.ok()) return std::string(result->secret.view());
  return std::to_string(static_cast<int>(result.error().code)) + ": " + result.error().message;
}
inline Code code_of(const Result<secrets::Value>& result) {
  return result.ok() ? Code::ok : result.error().code;
}
inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// One life of an instance.
class Life {
 public:
  explicit Life(const Config& config)
      : host("vault", config), instance(plugin(), host), up(instance.up()) {
    if (up.ok()) client = secrets::Client(instance.ref(DAVIT_SECRETS));
  }
  std::future<Results> begin(const std::vector<Item>& items, const Operation& operation) {
    auto promise = std::make_shared<std::promise<Results>>();
    client.resolve(
        items, [promise](Results results) { promise->set_value(std::move(results)); },
        operation.op());
    return promise->get_future();
  }
  Results resolve(const std::vector<Item>& items, const Operation& operation = Operation()) {
    auto answered = begin(items, operation);
    if (answered.wait_for(patience) == std::future_status::ready) return answered.get();
    ADD_FAILURE() << "no answer";
    std::abort();  // the answer would come into what is gone
  }
  Result<secrets::Value> resolve_one(const Item& one, const Operation& operation = Operation()) {
    Results results = resolve({one}, operation);
    if (results.size() == 1) return std::move(results[0]);
    return Error{Code::unknown, std::to_string(results.size()) + " results"};
  }
  Operation within(std::chrono::milliseconds time) {
    return Operation((host.now() + time).count());
  }
  double calls(const std::string& code) {
    return host.metric("davit_secrets_calls_total", {{"code", code}, {"secrets", "vault"}});
  }

  testing::TestHost host;
  testing::Instance instance;
  Result<> up;
  secrets::Client client;
};

// The tests of one process share a Vault without TLS.
class OnVault : public ::testing::Test {
 protected:
  static constexpr const char* token = "the-token-of-the-test";

  void SetUp() override {
    if (!vault().installed())
      GTEST_SKIP() << "Node's packages are not installed (packaging/install-dependencies.sh)";
    vault().ask(R"({"do": "reset"})");
    write(token_file(), token);
  }
  static VaultServer& vault() {
    static VaultServer server(std::string(R"({"token": ")") + token + "\"}");
    return server;
  }
  std::string token_file() const { return directory_.path() + "/token"; }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path + ".new") << text;
    if (std::rename((path + ".new").c_str(), path.c_str()) != 0) ADD_FAILURE() << path;
  }
  // What most tests need: nothing is kept, nothing is tried twice.
  Config config(std::initializer_list<Config::Entry> more = {}) {
    Config out{{"url", "http://127.0.0.1:" + vault().port()},
               {"token_file", token_file()},
               {"cache_ms", 0},
               {"attempts_max", 1}};
    for (const auto& entry : more) out.set(entry);
    return out;
  }
  static void behave(const std::string& as, const std::string& more = "") {
    vault().ask(R"({"do": "behave", "as": ")" + as + "\"" + (more.empty() ? "" : ", ") + more +
                "}");
  }
  // What the Vault was asked since the last time: "k1 x3: ok", one a call.
  static std::vector<std::string> asked() {
    std::vector<std::string> out;
    const auto answer = vault().ask(R"({"do": "calls"})");
    for (const auto& one : answer.at("calls").as_array()) {
      const auto& call = one.as_object();
      if (const auto* behaviour = call.if_contains("behaviour")) {
        out.emplace_back(behaviour->as_string());
      } else {
        out.push_back(std::string(call.at("keyring").as_string()) + " x" +
                      std::to_string(call.at("items").as_int64()) + ": " +
                      std::string(call.at("code").as_string()));
      }
    }
    return out;
  }
  testing::TemporaryDirectory directory_;
};

}  // namespace davit::secrets_vault
