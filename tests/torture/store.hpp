// The store as somebody finds it who opens the database beside the server and knows nothing but its
// tables.
#pragma once

#include "facts.hpp"

namespace davit::torture {

// `database` as in Place. Throws std::runtime_error when it cannot be read.
Stored read_store(const std::string& database);

Stored read_postgres(const std::string& connection);

// What a caller chose as its request id stands between whose it is and a mark of what was asked.
inline std::string request_id(const std::string& stored) {
  const size_t begin = stored.find('\t') + 1;  // 0 where there is none
  return stored.substr(begin, stored.find('\n') - begin);
}

}  // namespace davit::torture
