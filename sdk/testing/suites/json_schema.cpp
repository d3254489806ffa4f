#include "json_schema.hpp"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/schema.h>
#include <rapidjson/stringbuffer.h>

#include <stdexcept>

#include "schemas.hpp"

namespace davit::conformance {
namespace {

std::string not_json(const rapidjson::Document& document) {
  return std::string("no JSON at byte ") + std::to_string(document.GetErrorOffset()) + ": " +
         rapidjson::GetParseError_En(document.GetParseError());
}

template <class Pointer>
std::string text_of(const Pointer& pointer) {
  rapidjson::StringBuffer out;
  pointer.StringifyUriFragment(out);
  return {out.GetString(), out.GetSize()};
}

}  // namespace

struct JsonSchema::Compiled {
  explicit Compiled(const rapidjson::Document& document) : schema(document) {}
  rapidjson::SchemaDocument schema;
};

JsonSchema::JsonSchema(std::string_view schema) {
  rapidjson::Document document;
  document.Parse(schema.data(), schema.size());
  if (document.HasParseError()) throw std::invalid_argument(not_json(document));
  compiled_ = std::make_unique<Compiled>(document);
}

JsonSchema::~JsonSchema() = default;

std::string JsonSchema::fault(std::string_view json) const {
  rapidjson::Document document;
  document.Parse(json.data(), json.size());
  if (document.HasParseError()) return not_json(document);
  rapidjson::SchemaValidator validator(compiled_->schema);
  if (document.Accept(validator)) return {};
  return text_of(validator.GetInvalidDocumentPointer()) + " breaks \"" +
         validator.GetInvalidSchemaKeyword() + "\" of " +
         text_of(validator.GetInvalidSchemaPointer());
}

const JsonSchema& reconcile_input_schema() {
  static const JsonSchema schema(schemas::reconcile_input);
  return schema;
}

const JsonSchema& reconcile_output_schema() {
  static const JsonSchema schema(schemas::reconcile_output);
  return schema;
}

}  // namespace davit::conformance
