// Reads JSON that somebody else wrote. Messages are read member by member, and the first fault is
// kept. Objects of the cluster are read by pointer, and what has an unexpected type counts as
// absent. All other parts of the kind use it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>
#include <davit/types.hpp>

namespace davit::sentinel {

// Parses a text whose root must be an object. `what` names the text in the error.
Result<boost::json::value> parse_object(std::string_view text, std::string_view what);

// An empty view, NULL or 0 when the value is absent or of another type.
std::string_view text_at(const boost::json::value& from, std::string_view pointer);
int64_t integer_at(const boost::json::value& from, std::string_view pointer);
const boost::json::array* array_at(const boost::json::value& from, std::string_view pointer);
// A member of the object at the pointer (/metadata/labels, for instance). A "/" in the key needs no
// escape here.
std::string_view text_in(const boost::json::value& from, std::string_view pointer,
                         std::string_view key);

// The members of one message. After the first fault every read returns a default, so the reading
// code needs no error handling.
class Fields {
 public:
  explicit Fields(const boost::json::object& object) : object_(object) {}

  // Empty when it is absent.
  std::string string(std::string_view key);
  std::string needed(std::string_view key);
  // A number, or a string of digits, because proto3 JSON writes 64-bit integers as strings. 0 when
  // absent.
  int64_t integer(std::string_view key, int64_t min, int64_t max);
  void reject(std::string_view key, std::string message);

  const std::optional<Error>& fault() const { return fault_; }

 private:
  const boost::json::value* find(std::string_view key) const;  // null counts as absent

  const boost::json::object& object_;
  std::optional<Error> fault_;
};

}  // namespace davit::sentinel
