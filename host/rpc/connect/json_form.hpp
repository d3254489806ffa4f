// JsonForm converts one method's messages to and from JSON, by protobuf's own mapping.
// ConnectServer makes one for each method. Any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <davit/types.hpp>

#include "../method_registry.hpp"

struct davit_schema;
namespace google::protobuf::util {
class TypeResolver;
}

namespace davit::host {

class JsonForm {
 public:
  // An error if the method's descriptor set is inconsistent.
  static Result<std::unique_ptr<JsonForm>> make(const Method&);
  ~JsonForm();

  // INVALID_ARGUMENT if the JSON is not the method's request.
  Result<std::string> request(std::string_view json) const;
  // INTERNAL if the bytes are not the method's answer type.
  Result<std::string> answer(std::string_view message) const;

 private:
  explicit JsonForm(const Method&);
  const std::string request_, answer_;  // type URLs
  std::unique_ptr<davit_schema> schema_;
  std::unique_ptr<google::protobuf::util::TypeResolver> resolver_;
};

}  // namespace davit::host
