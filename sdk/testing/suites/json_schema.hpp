// Judges JSON by a JSON Schema (draft 4), such as those in sdk/schemas. Only json_schema.cpp
// includes RapidJSON.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace davit::conformance {

class JsonSchema {
 public:
  // Throws std::invalid_argument when the schema is no JSON.
  explicit JsonSchema(std::string_view schema);
  ~JsonSchema();

  // Where the value breaks which rule: "/status/health breaks \"enum\" of
  // #/definitions/status/...". Empty: it keeps all. Any thread.
  std::string fault(std::string_view json) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

// The schemas of what reconcile takes and gives. Any thread.
const JsonSchema& reconcile_input_schema();
const JsonSchema& reconcile_output_schema();

}  // namespace davit::conformance
