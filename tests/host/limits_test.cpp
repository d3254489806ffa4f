// What the host refuses before it reaches a storage, at the limits and beyond them.
#include "services/limits.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

Record record(const std::string& id = "a") {
  Record r;
  r.key = {"widget", "eu", id};
  r.ns = "shop";
  r.name = "name";
  r.state = "running";
  return r;
}

std::string refused(const Record& r, const storage::Limits& limits = {}) {
  const auto e = refuse(Group{{{r}}, {}}, limits);
  return e ? e->message : "";
}

TEST(Limits, NamesAreTakenUpToTheirLengthAndNotBeyond) {
  struct Row {
    const char* field;
    std::string Record::*own;
    std::string Key::*key;
    size_t max;
  };
  for (const Row& row :
       {Row{"kind", nullptr, &Key::kind, 63}, Row{"region", nullptr, &Key::region, 63},
        Row{"id", nullptr, &Key::id, 253}, Row{"namespace", &Record::ns, nullptr, 63},
        Row{"name", &Record::name, nullptr, 253},
        Row{"request_id", &Record::request_id, nullptr, 1024}}) {
    Record r = record();
    std::string& text = row.own != nullptr ? r.*row.own : r.key.*row.key;
    text = std::string(row.max, 'x');
    EXPECT_EQ(refused(r), "") << row.field;
    text += 'x';
    const auto e = refuse(Group{{{r}}, {}}, {});
    ASSERT_TRUE(e) << row.field;
    EXPECT_EQ(e->code, Code::invalid_argument);
    EXPECT_EQ(e->where, row.field);
    const std::string ends = std::string(row.field) + " has " + std::to_string(row.max + 1) +
                             " bytes, and may have " + std::to_string(row.max);
    EXPECT_TRUE(e->message.ends_with(ends)) << e->message;
  }
}

TEST(Limits, NoTextHasTheCharacterZeroOrIsNotUtf8) {
  const std::string zero("a\0b", 3), broken = "\xff";
  for (const std::string& bad : {zero, broken}) {
    for (std::string Record::*field : {&Record::ns, &Record::name, &Record::state, &Record::json,
                                       &Record::author, &Record::request_id}) {
      Record r = record();
      r.*field = bad;
      EXPECT_NE(refused(r), "");
    }
    for (std::string Status::*field :
         {&Status::message, &Status::parked, &Status::detail, &Status::health}) {
      Status s;
      s.*field = bad;
      EXPECT_TRUE(refuse(s, {}));
    }
    Record r = record();
    r.annotations = {{"key", bad}};
    EXPECT_NE(refused(r), "");
    Status s;
    s.children = {{"pod", bad, "running", 0, 0}};
    EXPECT_TRUE(refuse(s, {}));
    Progress p;
    p.issues = {{"widget", "a", "", "", 0, "held", bad}};
    EXPECT_TRUE(storage::outside(p));
    EXPECT_TRUE(storage::outside(Query{{"widget", "eu", bad}, {}, {}}));
    EXPECT_TRUE(storage::outside(Scope{bad, {}}));
    EXPECT_TRUE(storage::outside(AgentRead{bad, {}, {}}));
    EXPECT_TRUE(storage::outside(storage::Maintain{.forget = {"eu", bad}}));
  }
  Record r = record();
  r.payload = zero + broken;
  EXPECT_EQ(refused(r), "") << "a payload is bytes";
}

// The member of a status may be so high, and not higher.
template <class Member>
void expect_63_bits(Member Status::*member) {
  Status s;
  s.*member = Member(INT64_MAX);
  EXPECT_FALSE(refuse(s, {}));
  ++(s.*member);
  EXPECT_TRUE(refuse(s, {}));
}

TEST(Limits, NumbersAreBelow2To63) {
  expect_63_bits(&Status::epoch);
  expect_63_bits(&Status::sequence);
  expect_63_bits(&Status::observed_version);
  constexpr Version highest(INT64_MAX);
  Progress p;
  p.kinds = {{"widget", {Incarnation::max(), highest}}};
  p.issues = {{"widget", "a", "", "", highest, "held", "", Incarnation::max()}};
  EXPECT_FALSE(storage::outside(p)) << "incarnations have 64 bits";
  ++p.kinds[0].applied.version;
  EXPECT_TRUE(storage::outside(p));
  p.kinds.clear();
  ++p.issues[0].version;
  EXPECT_TRUE(storage::outside(p));
  Status s;
  s.observed_incarnation = Incarnation::max();
  EXPECT_FALSE(refuse(s, {}));
  const auto expecting = [](Version version) {
    return refuse(Group{{{record(), version}}, {}}, {});
  };
  EXPECT_FALSE(expecting(highest));
  EXPECT_TRUE(expecting(highest.next()));
  EXPECT_FALSE(expecting(any_version));
}

TEST(Limits, ARecordAndAGroupAreTakenUpToTheStoragesBytes) {
  Record r = record();
  r.payload = std::string(1000, 'x');
  const uint64_t size = storage::stored_bytes(r);
  EXPECT_EQ(refused(r, {.record_bytes = size}), "");
  EXPECT_EQ(refused(r, {.record_bytes = size - 1}),
            "widget \"a\" of region \"eu\" has " + std::to_string(size) + " bytes, and may have " +
                std::to_string(size - 1));
  const Group group{{{r}, {record("b")}}, {}};
  const uint64_t both = size + storage::stored_bytes(record("b"));
  EXPECT_FALSE(refuse(group, {.group_bytes = both}));
  const auto e = refuse(group, {.group_bytes = both - 1});
  ASSERT_TRUE(e);
  EXPECT_EQ(e->message, "a group of 2 records has " + std::to_string(both) +
                            " bytes, and may have " + std::to_string(both - 1) + ": divide it");
}

TEST(Limits, AReportEndsBeforeTheStatusThatWouldExceedIt) {
  std::vector<Status> all(3);
  for (Status& s : all) s.message = std::string(100, 'm');
  std::vector<const Status*> statuses;
  for (const Status& s : all) statuses.push_back(&s);
  EXPECT_EQ(end_of_report(statuses, 0, {}), 3u);
  EXPECT_EQ(end_of_report(statuses, 0, {.report_statuses = 2}), 2u);
  EXPECT_EQ(end_of_report(statuses, 2, {.report_statuses = 2}), 3u);
  EXPECT_EQ(end_of_report(statuses, 0, {.report_bytes = 200}), 2u);
  EXPECT_EQ(end_of_report(statuses, 0, {.report_bytes = 199}), 1u);
  EXPECT_FALSE(refuse(all[0], {.report_bytes = 100}));
  EXPECT_TRUE(refuse(all[0], {.report_bytes = 99}));
}

TEST(Limits, OfAStorageThatNothingCouldKeepToAreItsFault) {
  const auto fault = [](const auto& change) {
    storage::Limits limits;
    change(limits);
    const auto e = fault_in(limits);
    return e ? e->message : "none";
  };
  const std::string its = "a fault of the plugin: of its limits, ";
  EXPECT_EQ(fault([](auto&) {}), "none");
  EXPECT_EQ(fault([](auto& l) { l.group_records = 0; }), its + "group_records is 0");
  EXPECT_EQ(fault([](auto& l) { l.report_statuses = 0; }), its + "report_statuses is 0");
  EXPECT_EQ(fault([](auto& l) { l.group_bytes = 9; }), its + "group_bytes is below record_bytes");
  EXPECT_EQ(fault([](auto& l) { l.report_bytes = 9; }), its + "report_bytes is below 524288");
}

}  // namespace
}  // namespace davit::host
