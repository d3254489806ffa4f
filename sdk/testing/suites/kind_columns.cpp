// The columns of a kind (davit_kind_column): each shows something of what the kind takes or
// reports.
#include <algorithm>

#include "kind.hpp"

namespace davit::conformance {
namespace {

class KindColumns : public KindTest {
 protected:
  // What the column shows of one of these.
  static bool is_shown(const kind::Column& column, const std::vector<json::value>& all) {
    return std::any_of(all.begin(), all.end(), [&](const json::value& value) {
      json::error_code none;
      return value.find_pointer(column.path, none) != nullptr;
    });
  }
  // The details of the statuses that the kind gives for the samples while nothing is there yet.
  std::vector<json::value> details() const {
    std::vector<json::value> out;
    for (const json::object& sample : samples()) {
      const json::value desired = sample;
      const auto named = kind_.identify(json::serialize(sample));
      if (!named.ok()) continue;
      const auto output = settled(input_of(*named, &desired, {}));
      if (!output.ok()) continue;
      json::error_code none;
      const json::value answer = json::parse(*output);
      const json::value* detail = answer.find_pointer("/status/detail", none);
      if (detail != nullptr) out.push_back(*detail);
    }
    return out;
  }
};

TEST_F(KindColumns, K11_AreOfASourceAndATypeOfTheContract) {
  for (const kind::Column& column : description().columns) {
    SCOPED_TRACE(column.name);
    EXPECT_TRUE(column.source == DAVIT_COLUMN_SPEC || column.source == DAVIT_COLUMN_DETAIL);
    EXPECT_TRUE(column.type == "string" || column.type == "integer" || column.type == "number" ||
                column.type == "boolean" || column.type == "date")
        << column.type;
  }
}

TEST_F(KindColumns, K11_OfTheSpecShowSomethingOfASample) {
  std::vector<json::value> all;
  for (json::object& sample : samples()) all.emplace_back(std::move(sample));
  if (all.empty()) return;
  for (const kind::Column& column : description().columns) {
    if (column.source != DAVIT_COLUMN_SPEC) continue;
    EXPECT_TRUE(is_shown(column, all))
        << column.name << " shows " << column.path << ", which no sample has";
  }
}

TEST_F(KindColumns, K11_OfTheDetailShowSomethingOfAStatus) {
  const auto all = details();
  if (all.empty()) return;
  for (const kind::Column& column : description().columns) {
    if (column.source != DAVIT_COLUMN_DETAIL) continue;
    EXPECT_TRUE(is_shown(column, all))
        << column.name << " shows " << column.path << ", which no status of a sample has";
  }
}

}  // namespace
}  // namespace davit::conformance
