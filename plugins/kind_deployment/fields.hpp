// Reads the members of a JSON object that somebody else wrote. The first fault is kept with the
// member's path. After it every read returns the default, so the reading code needs no error
// handling. The readers of messages and of observed objects use it.
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

namespace davit::deployment {

// Parses a text whose root must be an object. `what` names the text in the error. The value is
// allocated in `memory`.
Result<boost::json::value> parse_object(std::string_view text, std::string_view what,
                                        boost::json::storage_ptr memory = {});

// The value at a JSON pointer. An empty view or NULL when it is absent or of another type.
std::string_view text_at(const boost::json::value& from, std::string_view pointer);
const boost::json::object* object_at(const boost::json::value& from, std::string_view pointer);
const boost::json::array* array_at(const boost::json::value& from, std::string_view pointer);
std::optional<int64_t> integer_at(const boost::json::value& from, std::string_view pointer);

class Fields {
 public:
  // `fault` must outlive this object. Several readers may share it.
  Fields(const boost::json::object& object, std::string path, std::optional<Error>& fault)
      : object_(object), path_(std::move(path)), fault_(fault) {}

  bool has(std::string_view key) const { return find(key) != nullptr; }
  bool is_empty_string(std::string_view key) const;
  std::string string(std::string_view key) const;
  std::optional<std::string> optional_string(std::string_view key) const;
  std::vector<std::string> strings(std::string_view key) const;
  // A number, or a string of digits, because proto3 JSON writes 64-bit integers as strings.
  int64_t integer(std::string_view key, int64_t min,
                  int64_t max = std::numeric_limits<int64_t>::max()) const;
  std::optional<int64_t> optional_integer(std::string_view key, int64_t min, int64_t max) const;
  // NULL when it is absent.
  const boost::json::object* object(std::string_view key) const;
  // Rejects every member that is not in `known`.
  void only(std::initializer_list<std::string_view> known) const;

  std::string at(std::string_view key) const;
  void reject(std::string_view key, std::string message) const;

 private:
  const boost::json::value* find(std::string_view key) const;  // null counts as absent
  void wrong_type(std::string_view key, std::string_view wanted,
                  const boost::json::value& found) const;

  const boost::json::object& object_;
  std::string path_;
  std::optional<Error>& fault_;
};

}  // namespace davit::deployment
