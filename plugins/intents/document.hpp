// The document of an intent: JSON, as `davit apply` takes it, and two members more: "delete": true
// deletes the record, and "expect" is the version that it must have. Pure.
#pragma once

#include <string_view>

#include <davit/records_role_values.hpp>

namespace davit::intents {

// Errors are INVALID_ARGUMENT, with the member in `where`; empty: it is no document at all.
Result<records::Document> parse_document(std::string_view text);

}  // namespace davit::intents
