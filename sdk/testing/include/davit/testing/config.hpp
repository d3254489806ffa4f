// The configuration of one instance under test, as a test writes it: keys and values. A dotted key
// is a key of an inner table. TestHost gives the configuration to the instance.
//
//   Config config{{"path", "/tmp/x.db"},
//                 {"workers", 4},
//                 {"regions", {"eu", "us"}},
//                 {"tls.verify", true}};
#pragma once

#include <initializer_list>
#include <variant>

#include <davit/types.hpp>

namespace davit::testing {

class Config {
 public:
  using Value = std::variant<std::string, int64_t, double, bool, std::vector<std::string>,
                             std::vector<Config>>;

  // A key and its value. The constructors accept integers, string literals and lists of strings.
  struct Entry {
    std::string key;
    Value value;
    Entry(std::string k, const char* v) : key(std::move(k)), value(std::string(v)) {}
    Entry(std::string k, std::string v) : key(std::move(k)), value(std::move(v)) {}
    Entry(std::string k, int v) : key(std::move(k)), value(int64_t{v}) {}
    Entry(std::string k, int64_t v) : key(std::move(k)), value(v) {}
    Entry(std::string k, double v) : key(std::move(k)), value(v) {}
    Entry(std::string k, bool v) : key(std::move(k)), value(v) {}
    Entry(std::string k, std::initializer_list<const char*> v)
        : key(std::move(k)), value(std::vector<std::string>(v.begin(), v.end())) {}
    Entry(std::string k, std::vector<std::string> v) : key(std::move(k)), value(std::move(v)) {}
    Entry(std::string k, std::vector<Config> v) : key(std::move(k)), value(std::move(v)) {}
    Entry(std::string k, Value v, int) : key(std::move(k)), value(std::move(v)) {}
  };

  Config() = default;
  Config(std::initializer_list<Entry> entries) : entries_(entries) {}

  // Reads lines of `key = value`. A value is a string in double quotes, an integer, true, false or
  // an array of strings. '#' begins a comment. The error names the line.
  static Result<Config> parse(std::string_view text);

  // Adds the entry, or replaces the one with its key.
  Config& set(Entry entry);
  Config& erase(std::string_view key);
  const std::vector<Entry>& entries() const { return entries_; }
  // The string, or "" when the key is absent or of another type.
  std::string string(std::string_view key) const;
  bool boolean(std::string_view key) const;
  // `otherwise` when the key is absent or of another type.
  int64_t integer(std::string_view key, int64_t otherwise) const;
  // A copy with `what` replaced by `with` in every string.
  Config with(std::string_view what, std::string_view with) const;

 private:
  template <class T>
  T get(std::string_view key, T otherwise) const;

  std::vector<Entry> entries_;
};

}  // namespace davit::testing
