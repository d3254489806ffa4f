// Turns an operator's document into the record to be stored, and a record back into a document. The
// kind and its schema decide. Pure.
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

// `kind` is NULL when the kind is not loaded: then the document has the stored JSON unchanged.
void to_wire(const Kind* kind, const Record& record, v1::StoredRecord* out);

}  // namespace davit::desired
