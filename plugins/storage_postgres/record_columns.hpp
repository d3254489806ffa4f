// Rows of the table `records` as columns: the parameters of a statement that writes many of them.
#pragma once

#include "davit/records.hpp"
#include "session.hpp"
#include "text_form.hpp"

namespace davit::storage_postgres {

class RecordColumns {
 public:
  // What the store decides about a record that is written.
  struct Decided {
    Version version;
    bool live = false, name_taken = false;
    std::string_view ns, name, request_id;
  };
  void add(const Record& record, const Decided& decided);
  bool empty() const { return count_ == 0; }
  // $1: version bigint[], live boolean[], name_taken boolean[], kind, region, id, ns, name, state,
  // author, request_id, annotations, json text[], payload bytea[], $15: committed_at in
  // milliseconds bigint[].
  Values take();

 private:
  size_t count_ = 0;
  ArrayText versions_, live_, taken_, kinds_, regions_, ids_, spaces_, names_, states_, authors_,
      requests_, annotations_, contents_, payloads_, times_;
};

}  // namespace davit::storage_postgres
