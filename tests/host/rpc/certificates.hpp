// A certificate authority of the test's own, made with the openssl program.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "rig.hpp"

namespace davit::host {

class Authority {
 public:
  Authority(const Folder& folder, const std::string& name) : folder_(folder), name_(name) {
    run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" +
        name + " -keyout " + key() + " -out " + certificate());
  }
  std::string certificate() const { return folder_.path(name_ + ".crt"); }

  // NAME.crt and NAME.key for localhost and 127.0.0.1. `expired`: it was valid yesterday.
  void issue(const std::string& to, bool expired = false) const {
    const std::string request = folder_.path(to + ".csr"), extensions = folder_.path(to + ".ext");
    folder_.write(to + ".ext", "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
    run("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" + to +
        " -keyout " + folder_.path(to + ".key") + " -out " + request);
    const std::string sign = "openssl x509 -req -in " + request + " -CA " + certificate() +
                             " -CAkey " + key() + " -CAcreateserial -extfile " + extensions +
                             " -out " + folder_.path(to + ".crt");
    run(sign + (expired ? " -days -1" : " -days 1"));
  }

 private:
  std::string key() const { return folder_.path(name_ + ".key"); }
  static void run(const std::string& command) {
    ASSERT_EQ(std::system((command + " >/dev/null 2>&1").c_str()), 0) << command;
  }
  const Folder& folder_;
  std::string name_;
};

}  // namespace davit::host
