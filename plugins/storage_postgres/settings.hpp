// Where the database is and how to reach it, as the configuration says. The password comes from a
// file or a credential at each connection, so that a new one needs no restart. It stands in the
// text for libpq only; `target` and every error name the database without it.
#pragma once

#include <chrono>

#include "davit/host.hpp"

namespace davit::storage_postgres {

struct PostgresSettings {
  // Reads the settings and rejects what is wrong. Only in the plugin's constructor.
  static PostgresSettings read(const Host& host);

  // The text for libpq. An error: the password cannot be read.
  Result<std::string> connection_text(const Host& host) const;

  // What libpq is told of each key, without the password. A URI is taken apart.
  Pairs keys;
  std::string target;  // for errors: `database "davit" on "db.internal"`
  std::string password_file;
  std::string schema;
  bool create_schema = true;
  std::chrono::milliseconds connect_timeout{}, lock_timeout{}, idle_in_transaction_timeout{};
  std::chrono::milliseconds intent_retention{};  // from the outcome on
};

// Takes a connection URI, or a text of libpq's key=value form, apart. The error does not show the
// text. Nothing about keys that are not in it.
Result<Pairs> parse_connection(const std::string& text);

// An identifier in quotes, for SQL.
std::string quoted_name(std::string_view name);
// A text in quotes, for SQL. standard_conforming_strings is on.
std::string quoted_text(std::string_view text);

}  // namespace davit::storage_postgres
