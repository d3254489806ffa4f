// Role kind: its description, and that reconcile is a pure, level-based function.
#include <set>
#include <thread>

#include "kind.hpp"

namespace davit::conformance {
namespace {

bool is_snake_case(const std::string& s) {
  if (s.empty() || !(s.front() >= 'a' && s.front() <= 'z')) return false;
  return s.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

// A serialized descriptor set contains the names of messages and fields as plain text.
bool names(davit_bytes descriptor_set, const std::string& full_name) {
  const std::string last = full_name.substr(full_name.rfind('.') + 1);
  return view(descriptor_set).find(last) != std::string_view::npos;
}

class KindDescription : public KindTest {};

TEST_F(KindDescription, K1_IsAlwaysTheSame) {
  EXPECT_EQ(table_->describe(fresh_.instance().get()), table_->describe(fresh_.instance().get()));
}

TEST_F(KindDescription, K11_NamesKindAndMessages) {
  const auto& d = description();
  EXPECT_TRUE(is_snake_case(d.kind)) << d.kind;
  EXPECT_NE(d.descriptor_set.len, 0u);
  EXPECT_NE(d.apply_type.find('.'), std::string::npos) << "a full name: " << d.apply_type;
  EXPECT_TRUE(names(d.descriptor_set, d.apply_type))
      << d.apply_type << " is not in the descriptor set";
  for (const auto& field : d.json_fields) {
    EXPECT_TRUE(names(d.descriptor_set, field)) << field << " is not in the descriptor set";
  }
}

TEST_F(KindDescription, K11_NamesEveryResourceCompletely) {
  std::set<std::string> seen;
  size_t owned = 0;
  for (const auto& r : description().resources) {
    SCOPED_TRACE(r.resource + "." + r.group);
    EXPECT_FALSE(r.version.empty());
    EXPECT_FALSE(r.resource.empty());
    EXPECT_FALSE(r.kind.empty());
    EXPECT_TRUE(seen.insert(r.group + "/" + r.resource).second) << "described twice";
    EXPECT_TRUE(r.role == DAVIT_RESOURCE_OWNED || r.role == DAVIT_RESOURCE_SEEN ||
                r.role == DAVIT_RESOURCE_ENSURED);
    for (const auto& pointer : r.keep)
      EXPECT_TRUE(!pointer.empty() && pointer.front() == '/') << pointer;
    if (r.role != DAVIT_RESOURCE_OWNED) continue;
    ++owned;
    EXPECT_FALSE(r.selector.empty())
        << "an owned resource must be watched: drift and pruning live from it";
  }
  EXPECT_GE(owned, 1u);
}

TEST_F(KindDescription, K11_HasTheSlotsItNeeds) {
  EXPECT_TRUE(table_->identify != nullptr && table_->validate != nullptr &&
              table_->classify != nullptr);
  EXPECT_TRUE(table_->reconcile != nullptr && table_->attribute != nullptr);
  if (!description().ctrl_v1) return;
  const auto& c = *description().ctrl_v1;
  EXPECT_FALSE(c.watch.empty() || c.get.empty() || c.state_type.empty() || c.watch_type.empty() ||
               c.get_type.empty());
  EXPECT_EQ(c.report.empty(), c.report_type.empty());
  EXPECT_EQ(c.report.empty(), c.report_response_type.empty());
  EXPECT_TRUE(table_->delete_message != nullptr);
  EXPECT_TRUE(c.report.empty() || (table_->to_report != nullptr && table_->from_report != nullptr));
}

TEST_F(KindDescription, K10_KnowsItsDefaultStateAndNoOtherWord) {
  EXPECT_EQ(class_of(description().default_state), kind::Class::apply);
  EXPECT_EQ(class_of("no such state"), kind::Class::unhandled);
  EXPECT_EQ(class_of(""), kind::Class::unhandled);
}

// A caller takes a class that it does not know for "unhandled".
TEST_F(KindDescription, K10_AnswersAClassOfTheContract) {
  for (const std::string& word : {description().default_state, std::string("no such state")}) {
    int32_t found = -1;
    davit_error e{};
    ASSERT_EQ(table_->classify(fresh_.instance().get(), str(word), {}, &found, &e), DAVIT_OK);
    EXPECT_TRUE(found == DAVIT_CLASS_UNHANDLED || found == DAVIT_CLASS_APPLY ||
                found == DAVIT_CLASS_DELETE)
        << "class " << found << " of \"" << word << "\"";
  }
}

class KindReconcile : public KindTest {};

TEST_F(KindReconcile, K7_IsGoneWhenNothingIsDesiredAndNothingIsThere) {
  const json::value plan = json::parse(ok(input_of({"id-1", "space", "name"}, nullptr, {})));
  EXPECT_TRUE(plan.as_object().contains("status"));
  EXPECT_EQ(plan.at("status").at("gone"), true);
  for (const char* key : {"apply", "delete"}) {
    EXPECT_TRUE(!plan.as_object().contains(key) || plan.at(key) == json::array()) << key;
  }
}

TEST_F(KindReconcile, K3_AcceptsTheSamples) {
  std::set<std::string> records;
  for (const json::value sample : samples()) {
    const std::string apply = json::serialize(sample);
    const auto named = kind_.identify(apply);
    ASSERT_TRUE(named.ok()) << why(named) << "\n" << apply;
    EXPECT_FALSE(named->id.empty() || named->ns.empty() || named->name.empty()) << apply;
    EXPECT_TRUE(records.insert(named->id).second) << "two samples of one record: " << named->id;
    const auto valid = kind_.validate(apply);
    EXPECT_TRUE(valid.ok()) << (valid.ok() ? "" : valid.error().where + ": ") << why(valid);
    EXPECT_EQ(class_of(description().default_state, apply), kind::Class::apply);
    const json::value plan = json::parse(ok(input_of(*named, &sample, {})));
    ASSERT_FALSE(plan.at("apply").as_array().empty()) << "nothing is applied for " << apply;
    EXPECT_NE(plan.at("status").at("gone"), true);
  }
}

TEST_F(KindReconcile, K4_FindsItsOwnObjectsAgain) {
  for (const json::value sample : samples()) {
    const Named named = kind_.identify(json::serialize(sample)).value();
    for (const auto& object : landed(ok(input_of(named, &sample, {})))) {
      const auto found = kind_.attribute(json::serialize(object));
      ASSERT_TRUE(found.ok()) << why(found) << "\n" << object;
      const auto own = std::find_if(found->begin(), found->end(), [&](const Named& each) {
        return each.ns == named.ns && each.name == named.name;
      });
      ASSERT_NE(own, found->end()) << "belongs to others only: " << object;
      EXPECT_TRUE(own->id.empty() || own->id == named.id) << own->id;
      EXPECT_TRUE(watched(object)) << "not matched by its own selector: " << object;
    }
  }
}

TEST_F(KindReconcile, K5_DeletesNothingOfWhatItJustApplied) {
  for (const json::value sample : samples()) {
    const Named named = kind_.identify(json::serialize(sample)).value();
    const std::string first = ok(input_of(named, &sample, {}));
    const json::value again = json::parse(ok(input_of(named, &sample, landed(first))));
    EXPECT_EQ(again.at("delete"), json::array());
    EXPECT_EQ(again.at("apply").as_array().size(),
              json::parse(first).at("apply").as_array().size());
  }
}

TEST_F(KindReconcile, K7_DeletesEverythingItOwnsAndThenItIsGone) {
  for (const json::value sample : samples()) {
    const Named named = kind_.identify(json::serialize(sample)).value();
    const json::array there = landed(ok(input_of(named, &sample, {})));
    const json::value plan = json::parse(ok(input_of(named, nullptr, there)));
    EXPECT_EQ(plan.at("apply"), json::array());
    EXPECT_NE(plan.at("status").at("gone"), true);
    std::set<std::string> deleted, owned;
    for (const auto& d : plan.at("delete").as_array()) {
      deleted.insert(text_at(d, "/resource") + " " + text_at(d, "/namespace") + "/" +
                     text_at(d, "/name"));
    }
    for (const auto& o : there) {
      owned.insert(described_kind(o)->resource + " " + text_at(o, "/metadata/namespace") + "/" +
                   text_at(o, "/metadata/name"));
    }
    EXPECT_EQ(deleted, owned);
    EXPECT_EQ(json::parse(ok(input_of(named, nullptr, {}))).at("status").at("gone"), true);
  }
}

TEST_F(KindReconcile, K1_GivesTheSameBytesForTheSameInputOnEveryThread) {
  std::vector<std::string> inputs{input_of({"id-1", "space", "name"}, nullptr, {})};
  for (const json::value sample : samples()) {
    const Named named = kind_.identify(json::serialize(sample)).value();
    inputs.push_back(input_of(named, &sample, {}));
    inputs.push_back(input_of(named, nullptr, landed(ok(inputs.back()))));
  }
  std::vector<std::string> wanted;
  for (auto& input : inputs) {
    ok(input);
    input = with_given(input, {});
    wanted.push_back(kind_.reconcile(input).value());
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 25; ++round) {
        for (size_t i = 0; i < inputs.size(); ++i) {
          const auto output = kind_.reconcile(inputs[i]);
          if (!output.ok() || *output != wanted[i]) ++wrong;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

class KindOnCtrlV1 : public KindTest {};

TEST_F(KindOnCtrlV1, K12_SaysDelete) {
  if (!description().ctrl_v1) GTEST_SKIP() << "not on that wire";
  const auto message = kind_.delete_message({"id-1", "space", "name"});
  ASSERT_TRUE(message.ok()) << why(message);
  const json::value state = json::parse(*message);
  ASSERT_TRUE(state.is_object() && state.as_object().contains("delete"));
  EXPECT_EQ(state.as_object().size(), 1u) << "only the delete; the version is the server's";
}

// On ctrl.v1 a kind may use other fields for a record. It must be the same record, and valid.
TEST_F(KindOnCtrlV1, K12_SaysTheSameRecord) {
  if (!description().ctrl_v1) GTEST_SKIP() << "not on that wire";
  for (const json::value sample : samples()) {
    const std::string apply = json::serialize(sample);
    const auto told = kind_.apply_message(apply);
    ASSERT_TRUE(told.ok()) << why(told) << "\n" << apply;
    if (told->empty()) continue;
    EXPECT_EQ(kind_.identify(*told).value(), kind_.identify(apply).value());
    EXPECT_EQ(class_of(description().default_state, *told), kind::Class::apply);
    const auto valid = kind_.validate(*told);
    EXPECT_TRUE(valid.ok()) << why(valid) << "\n" << *told;
    const auto again = kind_.apply_message(*told);
    ASSERT_TRUE(again.ok()) << why(again);
    EXPECT_EQ(*again, "") << "told once more in other fields: " << *told;
  }
}

TEST_F(KindOnCtrlV1, K12_ReadsTheReportsItWrites) {
  if (!description().ctrl_v1 || description().ctrl_v1->report.empty())
    GTEST_SKIP() << "reports nothing there";
  Status status;
  status.health = "progressing";
  status.desired = 2;
  status.children = {{"name-a", "10.0.0.1:80", "running", 100, 64},
                     {"name-b", "10.0.0.2:80", "pending", 100, 64}};
  for (const bool gone : {false, true}) {
    status.gone = gone;
    const auto report = kind_.to_report({"id-1", "space", "name"}, status);
    ASSERT_TRUE(report.ok()) << why(report);
    ASSERT_TRUE(json::parse(*report).is_object());
    const auto read = kind_.from_report(*report);
    ASSERT_TRUE(read.ok()) << why(read) << "\n" << *report;
    EXPECT_EQ(read->first.name, "name");
    EXPECT_FALSE(read->second.health.empty());
  }
}

}  // namespace
}  // namespace davit::conformance
