#include "columns.hpp"

namespace davit::desired {

void add_columns(const Kinds& kinds, std::string_view kind, int32_t source,
                 google::protobuf::RepeatedPtrField<v1::PrinterColumn>* out) {
  const Kind* known = kinds.get(kind);
  if (known == nullptr) return;
  for (const kind::Column& column : known->client.description().columns) {
    if (column.source != source) continue;
    v1::PrinterColumn* to = out->Add();
    to->set_name(column.name);
    to->set_path(column.path);
    to->set_type(column.type);
    to->set_priority(column.priority);
  }
}

}  // namespace davit::desired
