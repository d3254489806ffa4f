// The steps that make the schema. A step that was released never changes: a change of the schema is
// a new step at the end, so that every database becomes the same by whichever way.
#pragma once

#include <string>
#include <vector>

namespace davit::storage_postgres {

struct SchemaStep {
  const char* summary;  // for the operator: what it does, or would do
  const char* sql;      // runs with search_path set to the schema
};

// Why this code cannot work with version `has` of a schema, and what to do; empty: it can. `it`
// names the schema.
std::string misfit(const std::string& it, int has, int needs);

// Step i makes version i + 1 of the schema.
const std::vector<SchemaStep>& schema_steps();

}  // namespace davit::storage_postgres
