// From what an operator writes to the record that should be stored, and back. Pure: the kind and
// its schema decide.
#pragma once

#include "kinds.hpp"

namespace davit::v1 {
class Document;
class StoredRecord;
}  // namespace davit::v1

namespace davit::desired {

// The record a document asks for, without version and author. Errors say INVALID_ARGUMENT and name
// the document's field in `where` ("spec.autoscaling.max_replicas").
Result<Record> to_record(const Kinds& kinds, const v1::Document& document);

// `kind` NULL: not loaded here; the stored JSON is shown as it is.
void to_wire(const Kind* kind, const Record& record, v1::StoredRecord* out);

}  // namespace davit::desired
