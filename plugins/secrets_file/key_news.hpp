// Says in log and health what is new about the files with keys: that one cannot be used, that it
// can be again, and that its keys are others. What stays as it is is said once. Any thread.
#pragma once

#include <map>
#include <mutex>

#include "davit/host.hpp"
#include "keys.hpp"

namespace davit::secrets_file {

class KeyNews {
 public:
  explicit KeyNews(Host host) : host_(host) {}

  void good(const std::string& file, const Keys& keys);
  void bad(const std::string& file, const std::string& why);
  // There is no such file, which is no fault.
  void absent(const std::string& file);

 private:
  struct Last {
    bool good = true;
    std::string what;  // the public keys, or why the file is of no use
  };
  void say_health() const;

  const Host host_;
  std::mutex mutex_;
  std::map<std::string, Last> last_;  // by file
};

}  // namespace davit::secrets_file
