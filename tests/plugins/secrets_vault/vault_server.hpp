// The scripted Vault of tests/node/vault.mjs: a process that takes commands as lines of JSON. It
// ends with this object, or with the test's process.
#pragma once

#include <sys/types.h>

#include <boost/json.hpp>
#include <string>

namespace davit::test {

class VaultServer {
 public:
  // `options` is an object of JSON; vault.mjs says what it has. Waits until the server listens.
  explicit VaultServer(const std::string& options);
  ~VaultServer();
  VaultServer(const VaultServer&) = delete;
  VaultServer& operator=(const VaultServer&) = delete;

  // False: packaging/install-dependencies.sh has not installed Node's packages.
  bool installed() const { return installed_; }
  std::string port() const { return std::to_string(port_); }
  // Sends a command, and returns its answer when it is done.
  boost::json::object ask(const std::string& command);

 private:
  boost::json::object read();

  pid_t process_ = 0;
  int in_ = -1, out_ = -1;
  std::string buffer_;
  bool installed_ = true;
  int64_t port_ = 0;
};

}  // namespace davit::test
