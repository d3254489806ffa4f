#include "json_form.hpp"

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include "codec/schema.hpp"

namespace davit::host {

namespace {

namespace util = google::protobuf::util;
const std::string url_prefix = "type.googleapis.com";

std::string words(const util::Status& status) {
  const auto message = status.message();
  return std::string(message.data(), message.size());
}

}  // namespace

struct JsonForm::Types {
  explicit Types(std::unique_ptr<davit_schema> s)
      : schema(std::move(s)),
        resolver(util::NewTypeResolverForDescriptorPool(url_prefix, &schema->pool)) {}
  const std::unique_ptr<davit_schema> schema;
  const std::unique_ptr<util::TypeResolver> resolver;
};

JsonForm::JsonForm(const Method& m, std::shared_ptr<const Types> types)
    : request_(url_prefix + "/" + m.request_type),
      answer_(url_prefix + "/" + m.response_type),
      types_(std::move(types)) {}

Result<std::string> JsonForm::request(std::string_view json) const {
  std::string out;
  const auto status =
      util::JsonToBinaryString(types_->resolver.get(), request_, {json.data(), json.size()}, &out);
  if (!status.ok()) {
    return Error{Code::invalid_argument, "the request is not JSON of " +
                                             request_.substr(url_prefix.size() + 1) + ": " +
                                             words(status)};
  }
  return out;
}

Result<std::string> JsonForm::answer(std::string_view message) const {
  std::string out;
  const auto status = util::BinaryToJsonString(types_->resolver.get(), answer_,
                                               {message.data(), message.size()}, &out);
  if (!status.ok()) {
    return Error{Code::internal, "the answer is no " + answer_.substr(url_prefix.size() + 1) +
                                     ": " + words(status)};
  }
  return out;
}

// Methods that have the same descriptor set share its types: most of a plugin's do.
Result<> JsonForms::make(const MethodRegistry& methods) {
  if (!forms_.empty()) return {};
  std::unordered_map<std::string_view, std::shared_ptr<const JsonForm::Types>> by_set;
  std::unordered_map<const Method*, JsonForm> made;
  for (const Method* m : methods.all()) {
    auto& types = by_set[m->descriptor_set];
    if (types == nullptr) {
      auto schema = make_schema(m->descriptor_set, {});
      if (!schema.ok()) return schema.error().in(m->path);
      types = std::make_shared<JsonForm::Types>(std::move(*schema));
    }
    made.try_emplace(m, *m, types);
  }
  forms_ = std::move(made);
  return {};
}

}  // namespace davit::host
