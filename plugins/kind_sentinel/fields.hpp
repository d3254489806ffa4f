// Reads JSON that somebody else wrote: messages member by member, with the first fault kept, and
// objects of the cluster by pointer, where what is not as expected counts as absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>
#include <davit/types.hpp>

namespace davit::sentinel {

// Parses text whose root must be an object; `what` names it in the error.
Result<boost::json::value> parse_object(std::string_view text, std::string_view what);

// An empty view, NULL, or 0 when it is absent or of another type.
std::string_view text_at(const boost::json::value& from, std::string_view pointer);
int64_t integer_at(const boost::json::value& from, std::string_view pointer);
const boost::json::array* array_at(const boost::json::value& from, std::string_view pointer);
// A member of /metadata/labels, say; keys with "/" need no escaping here.
std::string_view text_in(const boost::json::value& from, std::string_view pointer,
                         std::string_view key);

// The members of one message. After the first fault every read gives a default, so the code that
// reads needs no error handling.
class Fields {
 public:
  explicit Fields(const boost::json::object& object) : object_(object) {}

  // Empty when it is absent.
  std::string string(std::string_view key);
  std::string needed(std::string_view key);
  // A number or, as 64-bit integers travel in proto3 JSON, a string of digits. Absent is 0.
  int64_t integer(std::string_view key, int64_t min, int64_t max);
  void reject(std::string_view key, std::string message);

  const std::optional<Error>& fault() const { return fault_; }

 private:
  const boost::json::value* find(std::string_view key) const;  // null and absent are the same

  const boost::json::object& object_;
  std::optional<Error> fault_;
};

}  // namespace davit::sentinel
