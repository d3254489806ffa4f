// A Vault behind TLS, with certificates of a CA of the test's own.
#pragma once

#include <cstdlib>
#include <filesystem>

#include "fixture.hpp"

namespace davit::secrets_vault {

// A certificate authority of the test's own, made with the openssl program.
class Authority {
 public:
  Authority(std::string folder, std::string name)
      : folder_(std::move(folder)), name_(std::move(name)) {
    run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" +
        name_ + " -keyout " + path(name_, ".key") + " -out " + certificate());
  }
  std::string certificate() const { return path(name_, ".crt"); }
  std::string path(const std::string& of, const std::string& ending) const {
    return folder_ + "/" + of + ending;
  }
  // NAME.crt and NAME.key for the host, such as IP:127.0.0.1.
  void issue(const std::string& to, const std::string& host = "IP:127.0.0.1") const {
    std::ofstream(path(to, ".ext")) << "subjectAltName=" << host << "\n";
    run("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" + to +
        " -keyout " + path(to, ".key") + " -out " + path(to, ".csr"));
    run("openssl x509 -req -days 2 -in " + path(to, ".csr") + " -CA " + certificate() + " -CAkey " +
        path(name_, ".key") + " -CAcreateserial -extfile " + path(to, ".ext") + " -out " +
        path(to, ".crt"));
  }

 private:
  static void run(const std::string& command) {
    ASSERT_EQ(std::system((command + " >/dev/null 2>&1").c_str()), 0) << command;
  }
  const std::string folder_, name_;
};

class Tls : public OnVault {
 protected:
  void SetUp() override {
    OnVault::SetUp();
    if (IsSkipped()) return;
    authority_.emplace(directory_.path(), "authority");
    authority_->issue("server");
  }
  VaultServer& serve(const std::string& http, const std::string& more = "") {
    server_ = std::make_unique<VaultServer>(
        R"({"http": ")" + http + R"(", "token": ")" + token + R"(", "certificate": ")" +
        file("server.crt") + R"(", "key": ")" + file("server.key") + "\"" + more + "}");
    return *server_;
  }
  std::string file(const std::string& name) const { return directory_.path() + "/" + name; }
  Config tls_config(std::initializer_list<Config::Entry> more = {}) {
    Config out = config(
        {{"url", "https://127.0.0.1:" + server_->port()}, {"ca_file", authority_->certificate()}});
    for (const auto& entry : more) out.set(entry);
    return out;
  }
  std::optional<Authority> authority_;
  std::unique_ptr<VaultServer> server_;
};

}  // namespace davit::secrets_vault
