// Instances of the built plugin, beside a Vault that says what it is told to.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <davit/base64.hpp>
#include <davit/operation.hpp>
#include <davit/secrets.hpp>
#include <davit/testing/module.hpp>
#include <fstream>
#include <future>

#include "http/peer.hpp"

namespace davit::secrets_transit {

using secrets::Item;
using secrets::Results;
using testing::Config;
using namespace std::chrono_literals;

constexpr auto patience = 120s;

inline const davit_plugin* plugin() {
  static const auto loaded = testing::Loaded::open(SECRETS_TRANSIT_SO);
  if (!loaded.ok()) throw std::runtime_error(loaded.error().message);
  return loaded->plugin();
}

// "value", or "CODE: message".
inline std::string told(const Result<secrets::Value>& result) {
  if (result.ok()) return std::string(result->secret.view());
  return std::to_string(static_cast<int>(result.error().code)) + ": " + result.error().message;
}
inline Item sealed(const std::string& keyring, const std::string& plaintext) {
  return {DAVIT_SECRET_DECRYPT, keyring, "vault:v1:" + base64(plaintext), {}, {}, {}};
}

// It decrypts "vault:v1:TEXT" to what TEXT is the base64 of, and "vault:v1:AAAA" not at all.
class ScriptedVault {
 public:
  // "STATUS BODY", or nothing: what the Vault does otherwise.
  using Script = std::function<std::string(const std::string& path, const std::string& request)>;

  ScriptedVault()
      : peer_([this](test::Peer& peer, int connection, const std::string& request) {
          serve(peer, connection, request);
        }) {}
  std::string url() const { return peer_.url(); }
  void script(Script script) {
    const std::lock_guard lock(mutex_);
    script_ = std::move(script);
  }
  // "POST transit/decrypt/env_1 by t1", one a request since the last time.
  std::vector<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return std::exchange(asked_, {});
  }
  // The last request, with its headers and its body.
  std::string last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  void lease(int seconds, bool renewable = true) {
    const std::lock_guard lock(mutex_);
    lease_ = seconds;
    renewable_ = renewable;
  }

 private:
  static std::string header(const std::string& request, const std::string& name) {
    const size_t at = request.find("\r\n" + name + ": ");
    if (at == request.npos) return "-";
    const size_t begin = at + name.size() + 4;
    return request.substr(begin, request.find("\r\n", begin) - begin);
  }
  void serve(test::Peer& peer, int connection, const std::string& request) {
    const size_t space = request.find(' ');
    const std::string method = request.substr(0, space);
    const std::string path = request.substr(space + 5, request.find(' ', space + 1) - space - 5);
    std::string answer;
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(method + " " + path + " by " + header(request, "X-Vault-Token"));
      last_ = request;
      if (script_) answer = script_(path, request);
      if (answer.empty()) answer = usual(path, request);
    }
    const std::string body = answer.size() > 4 ? answer.substr(4) : "";
    test::Peer::say(connection, "HTTP/1.1 " + answer.substr(0, 3) +
                                    " x\r\nContent-Type: application/json\r\nConnection: close\r\n"
                                    "Content-Length: " +
                                    std::to_string(body.size()) + "\r\n\r\n" + body);
    peer.end(connection);
  }
  std::string usual(const std::string& path, const std::string& request) {
    if (path.ends_with("/login") || path == "auth/token/renew-self") {
      if (path.ends_with("/login")) ++logins_;
      return "200 " + boost::json::serialize(
                          boost::json::object{{"auth",
                                               {{"client_token", "t" + std::to_string(logins_)},
                                                {"lease_duration", lease_},
                                                {"renewable", renewable_}}}});
    }
    if (path.find("/decrypt/") != path.npos) return decrypt(request);
    if (path.find("/data/") != path.npos)
      return R"(200 {"data":{"data":{"password":"of )" + path + R"("},"metadata":{"version":3}}})";
    return "200 {\"data\":{}}";
  }
  static std::string decrypt(const std::string& request) {
    const auto input = boost::json::parse(request.substr(request.find("\r\n\r\n") + 4));
    boost::json::array results;
    for (const auto& item : input.at("batch_input").as_array()) {
      const std::string text(item.at("ciphertext").as_string());
      if (text.ends_with(":AAAA")) {
        results.push_back({{"error", "cipher: message authentication failed"},
                           {"reference", item.at("reference")}});
      } else {
        results.push_back(
            {{"plaintext", text.substr(text.rfind(':') + 1)}, {"reference", item.at("reference")}});
      }
    }
    return "200 " +
           boost::json::serialize(boost::json::object{{"data", {{"batch_results", results}}}});
  }

  std::mutex mutex_;
  Script script_;
  std::vector<std::string> asked_;
  std::string last_;
  int lease_ = 3'600, logins_ = 0;
  bool renewable_ = true;
  test::Peer peer_;  // last: it serves from its construction on
};

// One life of an instance.
class Life {
 public:
  explicit Life(const Config& config)
      : host("vault", config), instance(plugin(), host), up(instance.up()) {
    if (up.ok()) client = secrets::Client(instance.ref(DAVIT_SECRETS));
  }
  Results resolve(const std::vector<Item>& items) {
    auto promise = std::make_shared<std::promise<Results>>();
    const Operation operation;
    client.resolve(
        items, [promise](Results results) { promise->set_value(std::move(results)); },
        operation.op());
    auto answered = promise->get_future();
    if (answered.wait_for(patience) == std::future_status::ready) return answered.get();
    ADD_FAILURE() << "no answer";
    std::abort();  // the answer would come into what is gone
  }
  std::string one(const Item& item) { return told(resolve({item}).at(0)); }

  testing::TestHost host;
  testing::Instance instance;
  Result<> up;
  secrets::Client client;
};

class BesideVault : public ::testing::Test {
 protected:
  using Asked = std::vector<std::string>;

  void SetUp() override {
    write("token", "t0");
    write("secret_id", "the-secret-id");
    write("account", "the.jwt");
  }
  std::string file(const std::string& name) const { return directory_.path() + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name) + ".new") << text;
    if (std::rename((file(name) + ".new").c_str(), file(name).c_str()) != 0) ADD_FAILURE() << name;
  }
  // What most tests need: nothing is kept, nothing is tried twice.
  Config config(std::initializer_list<Config::Entry> more = {}) const {
    return with({{"token_file", file("token")}}, more);
  }
  Config approle(std::initializer_list<Config::Entry> more = {}) const {
    return with({{"auth", "approle"}, {"role_id", "r"}, {"secret_id_file", file("secret_id")}},
                more);
  }
  ScriptedVault vault;
  testing::TemporaryDirectory directory_;

 private:
  Config with(std::initializer_list<Config::Entry> login,
              std::initializer_list<Config::Entry> more) const {
    Config out{{"url", vault.url()}, {"cache_ms", 0}, {"attempts_max", 1}};
    for (const auto& entry : login) out.set(entry);
    for (const auto& entry : more) out.set(entry);
    return out;
  }
};

}  // namespace davit::secrets_transit
