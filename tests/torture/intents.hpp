// The table davit.intents as another program uses it (plugins/intents/README.md). Throws
// std::runtime_error when the database fails.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct pg_conn;

namespace davit::torture {

class Intents {
 public:
  explicit Intents(const std::string& connection);

  // In one transaction. Returns their ids.
  std::vector<std::string> insert(const std::vector<std::string>& documents);
  struct Outcome {
    uint64_t version = 0;
    std::string error;
  };
  // Nothing: it is open.
  std::optional<Outcome> outcome(const std::string& id);

 private:
  std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
};

}  // namespace davit::torture
