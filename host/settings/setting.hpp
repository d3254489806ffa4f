// What is known of one key of the configuration: what its reader takes (probe.hpp), and what the
// shipped files say of it (catalogue.hpp). `davit config schema`, `davit plugin show` and
// davit.toml(5) are made of it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace davit::host {

struct Setting {
  enum class Type {
    unknown,
    string,
    integer,
    boolean,
    strings,  // an array of strings
    table,    // its keys are `parts`
    entries,  // a table whose keys the operator chooses; its values are strings
    tables,   // an array of tables, whose keys are `parts`
  };
  static constexpr int64_t no_limit = std::numeric_limits<int64_t>::max();

  std::string name;
  Type type = Type::unknown;
  bool required = false;
  int64_t min = 0, max = no_limit;  // of an integer
  std::vector<std::string> words;   // the only values that a string may have; empty: any
  std::vector<Setting> parts;       // sorted by name

  std::string usual;    // the default, as TOML; empty: none, or not known
  std::string example;  // what the shipped files have, as TOML, when that is no default
  std::string about;    // what it is for; empty: not known

  const Setting* part(std::string_view of) const;
  Setting* part(std::string_view of);
};

// "a string", "an integer from 1 to 5", "\"a\" or \"b\"".
std::string type_text(const Setting& setting);
// The unit that the end of a name says: "milliseconds" of "poll_interval_ms"; empty: none.
std::string unit_of(std::string_view name);

}  // namespace davit::host
