#include "equal.hpp"

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/field_comparator.h>
#include <google/protobuf/util/message_differencer.h>

#include "json.hpp"
#include "schema.hpp"

namespace davit::host {

namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

class Comparator : public pb::util::SimpleFieldComparator {
 public:
  explicit Comparator(const davit_schema& schema) : schema_(schema) {
    set_treat_nan_as_equal(true);
  }

  ComparisonResult Compare(const pb::Message& a, const pb::Message& b, const Field* f, int i, int j,
                           const pb::util::FieldContext* context) override {
    if (!schema_.holds_json(f)) return SimpleCompare(a, b, f, i, j, context);
    std::string left, right;
    const std::string& x = get(a, f, i, left);
    const std::string& y = get(b, f, j, right);
    if (x == y) return SAME;
    const auto p = Json::parse(x), q = Json::parse(y);
    return p.ok() && q.ok() && same_json(*p, *q) ? SAME : DIFFERENT;
  }

 private:
  static const std::string& get(const pb::Message& m, const Field* f, int index,
                                std::string& scratch) {
    const auto* r = m.GetReflection();
    return f->is_repeated() ? r->GetRepeatedStringReference(m, f, index, &scratch)
                            : r->GetStringReference(m, f, &scratch);
  }
  const davit_schema& schema_;
};

}  // namespace

bool equal_messages(const davit_schema& schema, std::string_view type, std::string_view a,
                    std::string_view b) {
  if (a == b) return true;
  pb::Arena arena;
  const auto x = read_message(schema, type, a, arena);
  const auto y = read_message(schema, type, b, arena);
  if (!x.ok() || !y.ok()) return false;
  Comparator comparator(schema);
  pb::util::MessageDifferencer differencer;
  differencer.set_field_comparator(&comparator);
  return differencer.Compare(**x, **y);
}

}  // namespace davit::host
