#include "record_columns.hpp"

#include "davit/storage_groups.hpp"

namespace davit::storage_postgres {

void RecordColumns::add(const Record& r, const Decided& decided) {
  ++count_;
  versions_.add_number(decided.version);
  live_.add_bool(decided.live);
  taken_.add_bool(decided.name_taken);
  kinds_.add(r.key.kind);
  regions_.add(r.key.region);
  ids_.add(r.key.id);
  spaces_.add(decided.ns);
  names_.add(decided.name);
  states_.add(r.state);
  authors_.add(r.author);
  requests_.add(decided.request_id);
  r.annotations.empty() ? annotations_.add_null()
                        : annotations_.add(storage::annotations_json(r.annotations));
  r.json.empty() ? contents_.add_null() : contents_.add(r.json);
  payloads_.add_bytes(r.payload);
  times_.add_number(r.committed_at_unix_ms);
}

Values RecordColumns::take() {
  Values out;
  for (ArrayText* column :
       {&versions_, &live_, &taken_, &kinds_, &regions_, &ids_, &spaces_, &names_, &states_,
        &authors_, &requests_, &annotations_, &contents_, &payloads_, &times_})
    out.emplace_back(column->take());
  return out;
}

}  // namespace davit::storage_postgres
