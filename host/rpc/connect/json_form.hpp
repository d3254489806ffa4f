// JsonForm converts one method's messages to and from JSON, by protobuf's own mapping. JsonForms
// has one for each method of a server. Any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include <davit/types.hpp>

#include "../method_registry.hpp"

namespace davit::host {

class JsonForm {
 public:
  struct Types;  // of a descriptor set
  JsonForm(const Method&, std::shared_ptr<const Types>);

  // INVALID_ARGUMENT if the JSON is not the method's request.
  Result<std::string> request(std::string_view json) const;
  // INTERNAL if the bytes are not the method's answer type.
  Result<std::string> answer(std::string_view message) const;

 private:
  const std::string request_, answer_;  // type URLs
  const std::shared_ptr<const Types> types_;
};

class JsonForms {
 public:
  // An error if a method's descriptor set is inconsistent. After a success, nothing is made again.
  Result<> make(const MethodRegistry&);
  const JsonForm& of(const Method* method) const { return forms_.at(method); }

 private:
  std::unordered_map<const Method*, JsonForm> forms_;
};

}  // namespace davit::host
