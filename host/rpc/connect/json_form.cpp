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

JsonForm::JsonForm(const Method& m)
    : request_(url_prefix + "/" + m.request_type), answer_(url_prefix + "/" + m.response_type) {}

JsonForm::~JsonForm() = default;

Result<std::unique_ptr<JsonForm>> JsonForm::make(const Method& m) {
  auto schema = make_schema(m.descriptor_set, {});
  if (!schema.ok()) return schema.error().in(m.path);
  std::unique_ptr<JsonForm> out(new JsonForm(m));
  out->schema_ = std::move(*schema);
  out->resolver_.reset(util::NewTypeResolverForDescriptorPool(url_prefix, &out->schema_->pool));
  return out;
}

Result<std::string> JsonForm::request(std::string_view json) const {
  std::string out;
  const auto status =
      util::JsonToBinaryString(resolver_.get(), request_, {json.data(), json.size()}, &out);
  if (!status.ok()) {
    return Error{Code::invalid_argument, "the request is not JSON of " +
                                             request_.substr(url_prefix.size() + 1) + ": " +
                                             words(status)};
  }
  return out;
}

Result<std::string> JsonForm::answer(std::string_view message) const {
  std::string out;
  const auto status =
      util::BinaryToJsonString(resolver_.get(), answer_, {message.data(), message.size()}, &out);
  if (!status.ok()) {
    return Error{Code::internal, "the answer is no " + answer_.substr(url_prefix.size() + 1) +
                                     ": " + words(status)};
  }
  return out;
}

}  // namespace davit::host
