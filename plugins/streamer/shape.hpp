// What the bytes of a message must look like for its reader to decode them: where its texts and
// messages are. Made once from a kind's descriptors, so that every record can be checked as it is
// sent without being decoded. A peer that cannot decode one message loses its stream, and would
// again and again. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace davit::streamer {

class Shape {
 public:
  // Of any message: tags and values from end to end.
  Shape() = default;
  // Of this type; of any message when the descriptors do not have it (the codec says so).
  Shape(std::string_view descriptor_set, const std::string& type);

  // No allocation: it runs for every record sent.
  bool fits(std::string_view message) const { return fits(message, 0, 0); }

 private:
  enum class Sort { text, message, varints, fixed32s, fixed64s };
  struct Field {
    Sort sort;
    size_t message;  // of which message of messages_, if it is one
  };
  using Fields = std::map<uint64_t, Field>;  // by number; the others are bytes or not delimited

  bool fits(std::string_view message, size_t index, int depth) const;
  bool delimited_fits(std::string_view value, size_t index, uint64_t number, int depth) const;

  std::vector<Fields> messages_;
};

}  // namespace davit::streamer
