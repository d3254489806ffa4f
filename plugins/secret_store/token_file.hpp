// TokenFile: a token, read from its file for each call. So a token that was replaced needs no
// restart. While the file cannot be read, or holds no token, the last one stays in use, and the log
// says why, whenever that changes.
#pragma once

#include <mutex>

#include "davit/host.hpp"

namespace davit::secret_store {

class TokenFile {
 public:
  TokenFile(Host host, std::string file, std::string setting = "token_file")
      : host_(host), file_(std::move(file)), setting_(std::move(setting)) {}

  // A copy. An error: there was never a token. Reads the file; any thread.
  Result<Secret> current();
  // What the file has now. An error's `where` is the setting.
  Result<Secret> read() const;

 private:
  const Host host_;
  const std::string file_, setting_;
  std::mutex mutex_;
  std::optional<Secret> last_;
  std::string fault_;  // of the last read, as it was logged; empty: there was none
};

}  // namespace davit::secret_store
