// The service davit.codec/1. It keeps the schemas that plugins load, and puts the C table in front
// of to_json, from_json and equal_messages. Identical descriptor sets share one schema, which lives
// as long as the codec. [any]
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <davit/abi/services.h>
#include <davit/types.hpp>

namespace davit::host {

class Codec {
 public:
  Codec();
  ~Codec();
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;

  Result<const davit_schema*> load(std::string_view descriptor_set,
                                   std::vector<std::string> json_fields);
  // The service's table. Its slot `load` finds this codec by asking the given host for DAVIT_CODEC.
  const davit_codec* table() const { return &table_.abi; }

 private:
  struct Table {
    davit_codec abi;  // first: a pointer to it is a pointer to the table
    Codec* owner;
  };
  static int32_t load_slot(const davit_host*, davit_bytes, const davit_str*, size_t,
                           const davit_schema**, davit_error*);

  Table table_;
  std::mutex mutex_;
  // The key is the set's bytes with the JSON fields.
  std::map<std::string, std::unique_ptr<davit_schema>> schemas_;
};

}  // namespace davit::host
