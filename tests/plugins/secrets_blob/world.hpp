// The plugin as it is loaded, between an RPC layer, an API server and a vault that do as they are
// told. The clock is the test's.
#pragma once

#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>
#include <davit/cluster.hpp>
#include <davit/secrets.hpp>
#include <davit/testing/module.hpp>
#include <set>
#include <thread>

#include "fakes/fake_rpc.hpp"
#include "fakes/held_requests.hpp"
#include "fakes/requests_only.hpp"
#include "krane/v1/secrets.pb.h"

namespace davit::secrets_blob {

namespace json = boost::json;

// Knows tokens and pods. `hold` keeps requests until release(), or until their callers give up.
class ApiServer : public testing::RequestsOnly {
 public:
  struct Token {
    std::string user = "system:serviceaccount:acme:customer-workload";
    std::string pod, uid;
    std::vector<std::string> audiences = {"https://kubernetes.default.svc"};
  };
  std::map<std::string, Token> tokens;
  std::map<std::string, json::value> pods;  // by "namespace/name"
  std::optional<cluster::Response> refuses_reviews, refuses_pods;
  bool hold = false;
  std::set<std::string> denied;    // rights: "get pods"
  std::vector<std::string> asked;  // "create tokenreviews", "get pods acme/web-1"

  void add_pod(const std::string& name, const std::string& deployment,
               const std::string& ns = "acme", const std::string& environment = "env_1") {
    json::object labels{{"unkey.com/deployment.id", deployment},
                        {"unkey.com/environment.id", environment}};
    pods[ns + "/" + name] = {
        {"kind", "Pod"},
        {"metadata",
         {{"name", name}, {"namespace", ns}, {"uid", "uid-" + name}, {"labels", labels}}},
        {"status", {{"phase", "Running"}}}};
    tokens["token-" + name] = {"system:serviceaccount:" + ns + ":customer-workload", name,
                               "uid-" + name};
  }

  // --- role cluster
  void request(const Op& op, const cluster::Request& q,
               std::function<void(cluster::Response)> done) {
    if (q.verb == "namespaces") {
      cluster::Response r;
      r.code = Code::invalid_argument;  // as of a cluster that knows no restriction
      return done(r);
    }
    asked.push_back(q.verb + " " + q.resource.resource + (q.ns.empty() ? "" : " " + q.ns + "/") +
                    q.name);
    deadlines.push_back(q.deadline_ns);
    if (!hold) return done(answer(q));
    held_.hold(op, q, std::move(done));
  }
  void release() {
    hold = false;
    held_.release(
        [this](const Op&, const cluster::Request& q, const auto& done) { done(answer(q)); });
  }
  // Answers those whose callers have given up.
  void let_go() { held_.let_go(); }

  std::vector<int64_t> deadlines;

 private:
  cluster::Response answer(const cluster::Request& q) {
    if (q.resource.resource == "selfsubjectaccessreviews") return access(q);
    return q.resource.resource == "tokenreviews" ? review(q) : pod(q);
  }
  cluster::Response access(const cluster::Request& q) const {
    if (refuses_reviews) return *refuses_reviews;
    json::value out = json::parse(q.body);
    const json::object& of = out.at_pointer("/spec/resourceAttributes").as_object();
    const std::string right = json::value_to<std::string>(of.at("verb")) + " " +
                              json::value_to<std::string>(of.at("resource"));
    out.as_object()["status"] = {{"allowed", !denied.contains(right)}};
    return created(out);
  }
  cluster::Response review(const cluster::Request& q) {
    if (refuses_reviews) return *refuses_reviews;
    json::value out = json::parse(q.body);
    const std::string token(out.at_pointer("/spec/token").as_string());
    const auto known = tokens.find(token);
    json::object status{{"authenticated", false}, {"error", "invalid bearer token"}};
    if (known != tokens.end()) status = status_of(known->second, out.at("spec").as_object());
    out.as_object()["status"] = status;
    return created(out);
  }
  // As the API server does: a token for none of the audiences is not authenticated.
  static json::object status_of(const Token& token, const json::object& spec) {
    json::array audiences;
    const json::value* wanted = spec.if_contains("audiences");
    for (const std::string& one : token.audiences) {
      bool asked_for = wanted == nullptr;
      if (wanted != nullptr)
        for (const auto& w : wanted->as_array()) asked_for = asked_for || w.as_string() == one;
      if (asked_for) audiences.emplace_back(one);
    }
    if (audiences.empty()) return {{"authenticated", false}};
    json::object extra;
    if (!token.pod.empty()) extra["authentication.kubernetes.io/pod-name"] = {token.pod};
    if (!token.uid.empty()) extra["authentication.kubernetes.io/pod-uid"] = {token.uid};
    return {{"authenticated", true},
            {"audiences", audiences},
            {"user", {{"username", token.user}, {"extra", extra}}}};
  }
  static cluster::Response created(const json::value& object) {
    cluster::Response r;
    r.http_status = 201;
    r.body = json::serialize(object);
    return r;
  }
  cluster::Response pod(const cluster::Request& q) {
    if (refuses_pods) return *refuses_pods;
    const auto known = pods.find(q.ns + "/" + q.name);
    if (known != pods.end()) return created(known->second);
    cluster::Response r;
    r.code = Code::not_found;
    r.http_status = 404;
    return r;
  }

  testing::HeldRequests held_;
};

// Decrypts "c:x" to "x", and fails as it is told.
class SmallVault {
 public:
  std::map<std::string, Error> errors;  // by ciphertext
  std::vector<std::string> asked;       // keyring and ciphertext
  size_t batches = 0;
  std::vector<int64_t> deadlines;
  bool binary = false;  // values are no texts
  bool hold = false;    // answers wait for release()

  void release() {
    hold = false;
    for (const auto& answer : std::exchange(held_, {})) answer();
  }
  void resolve(const Op& op, const std::vector<secrets::Item>& items, const secrets::Done& done) {
    ++batches;
    deadlines.push_back(op.deadline_ns());
    secrets::Results results;
    for (const auto& item : items) {
      asked.push_back(item.keyring + " " + item.ciphertext);
      const auto error = errors.find(item.ciphertext);
      if (error != errors.end()) {
        results.emplace_back(error->second);
      } else {
        const std::string value = binary ? "\xff" : item.ciphertext.substr(2);
        results.emplace_back(secrets::Value{Secret(value), {}, 0});
      }
    }
    if (!hold) return done(std::move(results));
    held_.emplace_back([done, kept = std::make_shared<secrets::Results>(std::move(results))] {
      done(std::move(*kept));
    });
  }

 private:
  std::vector<std::function<void()>> held_;
};

class World {
 public:
  static constexpr const char* path = "krane.v1.SecretsService/DecryptSecretsBlob";

  explicit World(std::initializer_list<testing::Config::Entry> settings = {})
      : host("blob", with(settings), testing::TestHost::Time::manual),
        rpc(host.host().service<davit_exec>(DAVIT_EXEC)),
        module_(*testing::Loaded::open(SECRETS_BLOB_SO)),
        instance(module_.plugin(), host) {
    host.add_service(DAVIT_RPC, rpc.table());
    host.add_role("cluster", DAVIT_CLUSTER, reinterpret_cast<davit_instance*>(&api),
                  cluster::Role::vtable<ApiServer>());
    host.add_role("vault", DAVIT_SECRETS, reinterpret_cast<davit_instance*>(&vault),
                  secrets::Role::vtable<SmallVault>());
    const auto r = instance.up();
    EXPECT_TRUE(r.ok()) << r.error().message;
    api.add_pod("web-1", "d_1");
  }
  ~World() { stop(); }
  void stop() {
    if (std::exchange(stopped_, true)) return;
    std::atomic<bool> done{false};
    std::thread stopping([&] {
      const auto r = instance.stop();
      EXPECT_TRUE(r.ok()) << r.error().message;
      done = true;
    });
    while (!done) {
      api.let_go();
      host.run();
    }
    stopping.join();
  }

  static krane::v1::DecryptSecretsBlobRequest request(const std::string& pod = "web-1") {
    krane::v1::DecryptSecretsBlobRequest out;
    out.set_encrypted_blob(R"({"secrets":{"A":"c:one","B":"c:two"}})");
    out.set_environment_id("env_1");
    out.set_deployment_id("d_1");
    out.set_token("token-" + pod);
    return out;
  }
  // A call that is not ended yet.
  davit_rpc_call& begin(const krane::v1::DecryptSecretsBlobRequest& message,
                        const std::string& address = "10.0.0.1",
                        const std::function<void(davit_rpc_call&)>& prepare = {}) {
    auto& call = rpc.call(path, message.SerializeAsString(), "", [&](davit_rpc_call& c) {
      c.peer = "ipv4:" + address + ":" + std::to_string(++port_);
      c.role = "pod";
      if (prepare) prepare(c);
    });
    host.run();
    return call;
  }
  // "A=one B=two", "CODE message" or "open".
  static std::string told(const davit_rpc_call& call) {
    if (!call.end) return "open";
    if (call.end->code != Code::ok)
      return std::to_string(static_cast<int>(call.end->code)) + " " + call.end->message;
    krane::v1::DecryptSecretsBlobResponse answer;
    if (call.messages.size() != 1 || !answer.ParseFromString(call.messages[0])) return "no answer";
    std::map<std::string, std::string> sorted(answer.env_vars().begin(), answer.env_vars().end());
    std::string out;
    for (const auto& [name, value] : sorted)
      out.append(out.empty() ? "" : " ").append(name).append("=").append(value);
    return out;
  }
  std::string ask(const krane::v1::DecryptSecretsBlobRequest& message,
                  const std::string& address = "10.0.0.1") {
    return told(begin(message, address));
  }
  // Of a request that is like a good one but for this.
  std::string ask_with(const std::function<void(krane::v1::DecryptSecretsBlobRequest&)>& change) {
    auto message = request();
    change(message);
    return ask(message);
  }

 private:
  static testing::Config with(std::initializer_list<testing::Config::Entry> settings) {
    testing::Config out{{"cluster", "cluster"}, {"secrets", "vault"}};
    for (const auto& entry : settings) out.set(entry);
    return out;
  }
  int port_ = 40'000;
  bool stopped_ = false;

 public:
  ApiServer api;
  SmallVault vault;
  testing::TestHost host;
  testing::FakeRpc rpc;

 private:
  testing::Loaded module_;

 public:
  testing::Instance instance;
};

inline const std::string refused = "16 the token is not that of a pod of this deployment";
inline const std::string busy = "8 too many requests: try again later";
inline const std::string away = "14 the token cannot be verified now: try again later";

}  // namespace davit::secrets_blob
