#include "settings.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <memory>

#include "davit/settings.hpp"

namespace davit::storage_postgres {
namespace {

using namespace std::chrono_literals;

constexpr size_t identifier_bytes_max = 63;  // PostgreSQL's NAMEDATALEN - 1
// Keys of their own in the configuration, by libpq's names for them.
constexpr std::pair<const char*, const char*> own_keys[] = {
    {"host", "host"},       {"database", "dbname"},         {"user", "user"},
    {"sslmode", "sslmode"}, {"sslrootcert", "sslrootcert"}, {"sslcert", "sslcert"},
    {"sslkey", "sslkey"},
};
// Whoever sets these would see passwords in files that are not secret, or gets what this plugin
// sets itself.
constexpr std::string_view secret_keys[] = {"password", "sslpassword"};

bool is_secret(std::string_view key) {
  return std::find(std::begin(secret_keys), std::end(secret_keys), key) != std::end(secret_keys);
}

const std::string* value_of(const Pairs& keys, std::string_view key) {
  for (const auto& [name, value] : keys) {
    if (name == key) return &value;
  }
  return nullptr;
}

// What libpq would take for a key that is not set.
std::string default_of(const char* key) {
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(PQconndefaults(),
                                                                               &PQconninfoFree);
  for (const auto* o = options.get(); o != nullptr && o->keyword != nullptr; ++o) {
    if (std::string_view(o->keyword) == key) return o->val == nullptr ? "" : o->val;
  }
  return {};
}

std::string shown(const Pairs& keys, const char* key, const char* otherwise) {
  const std::string* value = value_of(keys, key);
  const std::string text = value != nullptr ? *value : default_of(key);
  return "\"" + (text.empty() ? otherwise : text) + "\"";
}

std::string libpq_quoted(std::string_view value) {
  std::string out = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

void read_uri(const Settings& settings, PostgresSettings& out) {
  const std::string uri = settings.string("uri", "");
  if (uri.empty()) return;
  auto parsed = parse_connection(uri);
  if (!parsed.ok()) return settings.reject("uri", parsed.error().message);
  for (auto& [key, value] : *parsed) {
    if (is_secret(key)) {
      settings.reject("uri",
                      "has a " + key + ": put it into a file and name that in password_file");
    } else {
      out.keys.emplace_back(std::move(key), std::move(value));
    }
  }
}

void read_keys(const Settings& settings, PostgresSettings& out) {
  const auto add = [&](const char* key, const char* name, std::string value) {
    if (value_of(out.keys, name) != nullptr) {
      settings.reject(key, "stands in uri, too: say it once");
    } else {
      out.keys.emplace_back(name, std::move(value));
    }
  };
  for (const auto& [key, name] : own_keys) {
    if (const auto value = settings.optional_string(key)) add(key, name, *value);
  }
  if (const int64_t port = settings.integer("port", 0, 0, 65'535); port != 0)
    add("port", "port", std::to_string(port));
}

}  // namespace

Result<Pairs> parse_connection(const std::string& text) {
  char* fault = nullptr;
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(
      PQconninfoParse(text.c_str(), &fault), &PQconninfoFree);
  const std::unique_ptr<char, void (*)(void*)> freed(fault, &PQfreemem);
  // libpq's words would show a part of the text, which may be one of the password.
  if (!options) {
    return Error{Code::invalid_argument,
                 "is not a connection string: it has the form "
                 "postgresql://USER@HOST:PORT/DATABASE?sslmode=verify-full; characters such as @ "
                 "and / are written as %40 and %2F in a name",
                 "uri"};
  }
  Pairs out;
  for (const auto* o = options.get(); o->keyword != nullptr; ++o) {
    if (o->val != nullptr) out.emplace_back(o->keyword, o->val);
  }
  return out;
}

PostgresSettings PostgresSettings::read(const Host& host) {
  const Settings settings(host);
  PostgresSettings out;
  read_uri(settings, out);
  read_keys(settings, out);
  out.password_file = settings.string("password_file", "");
  out.schema = settings.string("schema", "davit");
  if (out.schema.empty() || out.schema.size() > identifier_bytes_max) {
    settings.reject("schema", "must have 1 to " + std::to_string(identifier_bytes_max) + " bytes");
  }
  if (out.schema.starts_with("pg_"))
    settings.reject("schema", "must not begin with \"pg_\": those names are PostgreSQL's own");
  out.create_schema = settings.boolean("create_schema", true);
  out.connect_timeout = settings.milliseconds("connect_timeout_ms", 5s, 100, 600'000);
  out.lock_timeout = settings.milliseconds("lock_timeout_ms", 5s, 10, 600'000);
  out.idle_in_transaction_timeout =
      settings.milliseconds("idle_in_transaction_timeout_ms", 30s, 1'000, 3'600'000);
  constexpr int64_t years_ms = int64_t{10} * 365 * 24 * 3'600'000;
  out.intent_retention = settings.milliseconds("intent_retention_ms", 30 * 24h, 0, years_ms);
  out.target = "database " + shown(out.keys, "dbname", "(that of the user's name)") + " on " +
               shown(out.keys, "host", "(the local socket)");
  if (value_of(out.keys, "application_name") == nullptr)
    out.keys.emplace_back("application_name", "davit " + std::string(host.instance()));
  return out;
}

Result<std::string> PostgresSettings::connection_text(const Host& host) const {
  constexpr int64_t ms_in_s = 1'000;
  std::string out;
  const auto add = [&](std::string_view key, std::string_view value) {
    out += std::string(out.empty() ? "" : " ") + std::string(key) + "=" + libpq_quoted(value);
  };
  // A server that has vanished from the network is noticed within these, unless the operator's
  // connection string says otherwise.
  const std::string seconds =
      std::to_string(std::max<int64_t>(2, connect_timeout.count() / ms_in_s));
  for (const auto& [key, value] : Pairs{{"connect_timeout", seconds},
                                        {"keepalives_idle", "15"},
                                        {"keepalives_interval", "5"},
                                        {"keepalives_count", "3"},
                                        {"tcp_user_timeout", "30000"}}) {
    if (value_of(keys, key) == nullptr) add(key, value);
  }
  for (const auto& [key, value] : keys) add(key, value);
  if (!password_file.empty()) {
    auto password = host.credential(password_file);
    if (!password.ok()) return password.error().in("password_file");
    add("password", password->view());
  }
  return out;
}

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string quoted_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + "'";
}

}  // namespace davit::storage_postgres
