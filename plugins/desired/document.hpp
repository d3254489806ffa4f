// Turns a document into the record to be stored, and a record back into a document, whether they
// come from an operator or from a controller. The kind and its schema decide. Pure.
#pragma once

#include <davit/records_role_values.hpp>

#include "kinds.hpp"

namespace davit::v1 {
class Document;
class StoredRecord;
}  // namespace davit::v1

namespace davit::desired {

// The record a document asks for, without version and author. Errors say INVALID_ARGUMENT and name
// the document's field in `where` ("spec.autoscaling.max_replicas").
Result<Record> to_record(const Kinds& kinds, const records::Document& document);

// A record as it is shown: with the JSON of its payload, if the store has not kept it. Without,
// when the kind is not loaded.
Record as_shown(const Kinds& kinds, const davit_record& record);

// Makes the JSON of a record of its payload, whatever it was. It stays when the kind is not loaded.
void write_json(const Kinds& kinds, Record& record);

records::Document from_wire(const v1::Document& document);
void to_wire(const Record& record, v1::Document* out);
// `read_in`: the store's incarnation when the record was read.
void to_wire(const Record& record, Incarnation read_in, v1::StoredRecord* out);

}  // namespace davit::desired
