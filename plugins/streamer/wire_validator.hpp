// Checks that the bytes of a message can be decoded by its reader, without decoding them. A
// validator is made once from a kind's descriptors and knows where the texts and messages of a type
// are. The Classifier checks every record with it: a peer that cannot decode one message would lose
// its stream again and again. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace davit::streamer {

class WireValidator {
 public:
  // Fits any message: tags and values from end to end.
  WireValidator() = default;
  // Fits this type. When the descriptors lack the type (the codec reports that), it fits any
  // message.
  WireValidator(std::string_view descriptor_set, const std::string& type);

  // Allocates nothing: it runs for every record that is sent.
  bool fits(std::string_view message) const { return fits(message, 0, 0); }

 private:
  enum class Sort { text, message, varints, fixed32s, fixed64s };
  struct Field {
    Sort sort;
    size_t message;  // for Sort::message: its index in messages_
  };
  // By field number. Fields that are missing here are bytes or not length-delimited.
  using Fields = std::map<uint64_t, Field>;

  bool fits(std::string_view message, size_t index, int depth) const;
  bool delimited_fits(std::string_view value, size_t index, uint64_t number, int depth) const;

  std::vector<Fields> messages_;
};

}  // namespace davit::streamer
