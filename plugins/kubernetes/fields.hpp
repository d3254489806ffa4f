// Reads a JSON message that somebody else wrote, member by member, and keeps the first fault.
// Objects of the cluster are read with json.hpp instead, where what has an unexpected type counts
// as absent.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/fwd.hpp>
#include <boost/json/storage_ptr.hpp>
#include <davit/types.hpp>

#include "json.hpp"

namespace davit::kubernetes {

// Parses a text whose root must be an object. `what` names the text in the error. The value is
// allocated in `memory`.
Result<boost::json::value> parse_object(std::string_view text, std::string_view what,
                                        boost::json::storage_ptr memory = {});

// The members of one message. The first fault is kept with the member's path. After it every read
// returns a default, so the reading code needs no error handling.
class Fields {
 public:
  // Both must outlive this object. `fault` is set once, here or by a reader inside this one.
  Fields(const boost::json::object& message, std::optional<Error>& fault)
      : object_(message), fault_(fault) {}
  // The reader of `object`, which is the member `key` or lies in it ("instances[0]").
  Fields inside(const boost::json::object& object, std::string_view key) const;

  bool has(std::string_view key) const { return find(key) != nullptr; }
  bool is_empty_string(std::string_view key) const;
  std::string string(std::string_view key) const;  // empty when it is absent
  std::string needed(std::string_view key) const;  // empty only after a fault
  std::optional<std::string> optional_string(std::string_view key) const;
  std::vector<std::string> strings(std::string_view key) const;
  // A number, or a string of digits, because proto3 JSON writes 64-bit integers as strings. 0 when
  // it is absent, which `min` and `max` may refuse.
  int64_t integer(std::string_view key, int64_t min,
                  int64_t max = std::numeric_limits<int64_t>::max()) const;
  std::optional<int64_t> optional_integer(std::string_view key, int64_t min, int64_t max) const;
  std::optional<bool> optional_boolean(std::string_view key) const;
  // NULL when it is absent.
  const boost::json::object* object(std::string_view key) const;
  // Rejects every member that is not in `known`.
  void only(std::initializer_list<std::string_view> known) const;

  void reject(std::string_view key, std::string message) const;

 private:
  Fields(const boost::json::object& object, std::string path, std::optional<Error>& fault)
      : object_(object), path_(std::move(path)), fault_(fault) {}
  std::string at(std::string_view key) const;                  // the member's path
  const boost::json::value* find(std::string_view key) const;  // null counts as absent
  void wrong_type(std::string_view key, std::string_view wanted,
                  const boost::json::value& found) const;

  const boost::json::object& object_;
  std::string path_;  // of the object; empty: it is the message
  std::optional<Error>& fault_;
};

}  // namespace davit::kubernetes
