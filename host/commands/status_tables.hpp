// The tables of `davit status`: objects, agents, and the reasons why something is not as it should
// be. Pure, except for the time of day, of which ages count.
#pragma once

#include <string>
#include <vector>

#include <davit/v1/operator.pb.h>

#include "kind_columns.hpp"
#include "named_records.hpp"
#include "text_table.hpp"

namespace davit::host {

// Properties of the terminal.
struct Look {
  bool colour;
  size_t columns;
};

std::string objects_table(const v1::StatusResponse& status, const Look& look);
std::string agents_table(const v1::StatusResponse& status, const Look& look);
// What agents report of records and objects, and of the changes that they still try to make. Of
// these names only; none: of all. Empty: all is as it should be.
std::string reasons_table(const v1::StatusResponse& status, const std::vector<RecordName>& names,
                          const Look& look);

// Rows of the table of objects as they come, under one heading.
class ObjectRows {
 public:
  // Of the kind that was asked for.
  explicit ObjectRows(const KindColumns::Columns& columns);
  std::string print(const std::vector<v1::ObjectStatus>& objects, const Look& look);

 private:
  KindColumns columns_;
  TextTable table_;
};

}  // namespace davit::host
