// The columns that a kind wants to be shown of its records: headings and cells for a table. Pure.
#pragma once

#include <davit/v1/operator.pb.h>

#include "text_table.hpp"

namespace davit::host {

class KindColumns {
 public:
  using Columns = google::protobuf::RepeatedPtrField<v1::PrinterColumn>;

  KindColumns() = default;
  explicit KindColumns(const Columns& columns) : columns_(columns.begin(), columns.end()) {}

  // The order of leaving out (TextTable::Heading::spare) that columns of every kind begin above:
  // a kind's own columns with a priority go first.
  static constexpr int after_kinds = 1000;

  std::vector<TextTable::Heading> headings() const;
  // `json`: the document's spec or the status's detail. An invalid one is an empty one.
  std::vector<TextTable::Cell> cells(const std::string& json, int64_t now_unix_ms) const;

 private:
  std::vector<v1::PrinterColumn> columns_;
};

// A row of a table: `first`, then the kind's own, then `last`.
template <class T>
std::vector<T> around(std::vector<T> first, std::vector<T> own, const std::vector<T>& last) {
  first.insert(first.end(), own.begin(), own.end());
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

}  // namespace davit::host
