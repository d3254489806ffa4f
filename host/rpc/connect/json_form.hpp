// A method's messages as JSON, by protobuf's own mapping. Any thread.
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
  // An error when the method's descriptors do not hold together.
  static Result<std::unique_ptr<JsonForm>> make(const Method&);
  ~JsonForm();

  // INVALID_ARGUMENT: it is not the request.
  Result<std::string> request(std::string_view json) const;
  // INTERNAL: the method's answer is not what it said.
  Result<std::string> answer(std::string_view message) const;

 private:
  explicit JsonForm(const Method&);
  const std::string request_, answer_;  // type URLs
  std::unique_ptr<davit_schema> schema_;
  std::unique_ptr<google::protobuf::util::TypeResolver> resolver_;
};

}  // namespace davit::host
