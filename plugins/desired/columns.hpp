// The columns that a kind wants to be shown (davit_kind_column), as an answer about one kind has
// them. Pure.
#pragma once

#include <davit/v1/operator.pb.h>

#include "kinds.hpp"

namespace davit::desired {

// Adds those of the source (DAVIT_COLUMN_...). A kind that is not loaded, or "", has none.
void add_columns(const Kinds& kinds, std::string_view kind, int32_t source,
                 google::protobuf::RepeatedPtrField<v1::PrinterColumn>* out);

}  // namespace davit::desired
