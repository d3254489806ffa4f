// Role records: what an apply does (R1 to R5, R14).
#include <set>
#include <thread>

#include "records.hpp"

namespace davit::conformance {
namespace {

using RecordsApply = Records;

std::string filled(std::string text, const std::string& what, const std::string& with) {
  for (size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), with);
  return text;
}

TEST_F(RecordsApply, R1_AGroupIsCommittedAsAWholeOrNotAtAll) {
  auto bad = document("b");
  bad.spec = sample_.refused[0].first;
  EXPECT_EQ(outcomes(apply({document("a"), bad, document("c")})), "3 3 3");
  EXPECT_EQ(everything(), "");
  EXPECT_EQ(outcomes(apply({document("a"), document("b"), document("c")})),
            "created created created");
  EXPECT_TRUE(is_stored("a") && is_stored("b") && is_stored("c"));
}

TEST_F(RecordsApply, R1_ADeleteAndAnApplyAreOneGroup) {
  put(document("a"));
  const std::string before = everything();
  EXPECT_EQ(outcomes(apply({removal("a"), expecting(document("b"), 99)})), "10 10");
  EXPECT_EQ(everything(), before);
  EXPECT_EQ(outcomes(apply({removal("a"), document("b")})), "deleted created");
  EXPECT_EQ(stored("a").state, "deleted");
  EXPECT_EQ(outcomes(apply({removal("a"), removal("no_such_record")})), "absent absent");
}

TEST_F(RecordsApply, R1_ADryRunChangesNothingAndIsAnsweredAsTheApply) {
  put(document("a"));
  const std::string before = everything();
  auto bad = document("x");
  bad.spec = sample_.refused[0].first;
  const std::vector<std::vector<records::Document>> groups = {{document("a"), document("b")},
                                                              {document("c"), bad},
                                                              {expecting(document("a", 2), 999)},
                                                              {document("a", 2)},
                                                              {removal("a"), removal("b")}};
  const std::vector<std::string> expected = {"unchanged created", "3 3", "10", "changed",
                                             "deleted absent"};
  for (size_t n = 0; n < groups.size(); ++n)
    EXPECT_EQ(outcomes(apply(records::Apply{groups[n], "q", true, "suite"})), expected[n]) << n;
  EXPECT_EQ(everything(), before);
  // The last one after the others: b is there by then.
  for (size_t n = 0; n + 1 < groups.size(); ++n) EXPECT_EQ(outcomes(apply(groups[n])), expected[n]);
}

TEST_F(RecordsApply, R2_EachDocumentHasItsResultInTheirOrder) {
  std::vector<records::Document> documents = {document("c"), document("a"), document("b")};
  documents[1].key.id.clear();  // the kind finds it in the spec
  const auto results = apply(documents);
  ASSERT_EQ(outcomes(results), "created created created");
  const std::vector<std::string> ids = {"c", "a", "b"};
  for (size_t n = 0; n < ids.size(); ++n) {
    EXPECT_EQ(results[n].key, key(ids[n]));
    EXPECT_EQ(results[n].at.version, stored(ids[n]).version) << ids[n];
    EXPECT_EQ(results[n].at.incarnation, list({})->head.incarnation);
  }
}

TEST_F(RecordsApply, R2_WhoIsNotAtFaultNamesTheOneThatIs) {
  auto bad = document("b");
  bad.spec = sample_.refused[0].first;
  const auto results = apply({document("a"), bad, document("c")});
  ASSERT_EQ(outcomes(results), "3 3 3");
  EXPECT_EQ(results[0].error->where, "documents[1]");
  EXPECT_EQ(results[1].error->where, sample_.refused[0].second);
  EXPECT_EQ(results[2].error->where, "documents[1]");
}

TEST_F(RecordsApply, R2_ANameThatIsTakenIsTheFaultOfTheOneThatWantsIt) {
  put(document("a"));
  auto taker = document("b");
  taker.spec =
      filled(filled(filled(sample_.spec, named("$ID"), named("a")), "$ID", "b"), "$VALUE", "1");
  const auto results = apply({document("c"), taker});
  ASSERT_EQ(outcomes(results), "6 6");
  EXPECT_EQ(results[0].error->where, "documents[1]");
  EXPECT_NE(results[1].error->where, "documents[1]");
  EXPECT_FALSE(is_stored("c"));
  EXPECT_EQ(outcomes(apply({removal("a"), taker})), "deleted created") << "the name is free then";
}

TEST_F(RecordsApply, R2_NoDocumentsHaveNoResults) {
  EXPECT_TRUE(apply(std::vector<records::Document>{}).empty());
}

TEST_F(RecordsApply, R3_WhatTheKindRefusesIsNotStored) {
  for (const auto& [spec, where] : sample_.refused) {
    auto bad = document("a");
    bad.spec = spec;
    const auto results = apply({bad});
    ASSERT_EQ(outcomes(results), "3") << spec;
    EXPECT_EQ(results[0].error->where, where);
    EXPECT_EQ(everything(), "");
  }
}

TEST_F(RecordsApply, R3_WhatIsWrongAboutADocumentIsNamed) {
  struct Row {
    std::string where;
    std::function<void(records::Document&)> spoil;
  };
  const std::vector<Row> rows = {
      {"kind", [](auto& d) { d.key.kind = "no_such_kind"; }},
      {"kind", [](auto& d) { d.key.kind.clear(); }},
      {"region", [](auto& d) { d.key.region.clear(); }},
      {"id", [](auto& d) { d.key.id = "another"; }},
      {"spec", [](auto& d) { d.spec.clear(); }},
      {"spec", [](auto& d) { d.spec = "{"; }},
      {"state", [](auto& d) { d.state = "deleted"; }},
      {"state", [](auto& d) { d.state = "no_such_state"; }},
      {"annotations",
       [](auto& d) {
         d.annotations = {{"k", "1"}, {"k", "2"}};
       }},
      {"spec", [](auto& d) { d.remove = true; }},
  };
  for (const Row& row : rows) {
    auto d = document("a");
    row.spoil(d);
    const auto results = apply({d});
    ASSERT_EQ(outcomes(results), "3") << row.where;
    EXPECT_EQ(results[0].error->where.substr(0, row.where.size()), row.where);
    EXPECT_EQ(everything(), "");
  }
}

TEST_F(RecordsApply, R3_NoTwoDocumentsAreAboutOneRecord) {
  EXPECT_EQ(outcomes(apply({document("a"), document("b"), document("a", 2)})), "3 3 3");
  EXPECT_EQ(outcomes(apply({document("a"), removal("a")})), "3 3");
  EXPECT_EQ(everything(), "");
  auto nameless = document("a", 2);
  nameless.key.id.clear();
  EXPECT_EQ(outcomes(apply({document("a"), nameless})), "3 3") << "the same id, by its spec";
  EXPECT_EQ(everything(), "");
}

TEST_F(RecordsApply, R4_WhatMeansTheSameIsNotCommitted) {
  const Cursor at = put(document("a"));
  const std::string before = everything();
  auto same = document("a");
  same.spec = filled(filled(sample_.same, "$ID", "a"), "$VALUE", "1");
  ASSERT_NE(same.spec, document("a").spec);
  const auto results = apply({same, document("b")});
  ASSERT_EQ(outcomes(results), "unchanged created");
  EXPECT_EQ(results[0].at, at);
  EXPECT_EQ(stored("a").version, at.version);
  same.annotations = {{"note", "x"}};
  EXPECT_EQ(outcomes(apply({same})), "changed") << "an annotation is a change";
  EXPECT_EQ(stored("a").annotations, same.annotations);
}

TEST_F(RecordsApply, R5_AnExpectedVersionIsCompared) {
  const Cursor first = put(expecting(document("a"), 0));
  const Cursor second = put(expecting(document("a", 2), first.version));
  const std::string before = everything();
  for (const Version wrong : {Version(), first.version, second.version + 7}) {
    const auto results = apply({document("b"), expecting(document("a", 3), wrong)});
    ASSERT_EQ(outcomes(results), "10 10") << wrong;
    EXPECT_EQ(results[1].at.version, second.version);
    EXPECT_EQ(outcomes(apply({removal("a", wrong == 0 ? first.version : wrong)})), "10");
  }
  EXPECT_EQ(everything(), before);
  const auto none = apply({expecting(document("b"), 7)});
  ASSERT_EQ(outcomes(none), "10");
  EXPECT_EQ(none[0].at.version, Version(0)) << "there is none";
  EXPECT_EQ(outcomes(apply({removal("a", second.version)})), "deleted");
  EXPECT_EQ(outcomes(apply({expecting(document("a"), 0)})), "created") << "a deleted one is none";
}

TEST_F(RecordsApply, R5_WhatMeansTheSameIsExpectedAllTheSame) {
  const Cursor at = put(document("a"));
  EXPECT_EQ(outcomes(apply({expecting(document("a"), at.version + 1)})), "10");
  EXPECT_EQ(outcomes(apply({expecting(document("a"), at.version)})), "unchanged");
}

TEST_F(RecordsApply, R5_OfManyWritersThatExpectTheSameOneSucceeds) {
  const Version version = put(document("a")).version;
  constexpr int writers = 16;
  auto& answers = calls_.emplace_back();
  const Operation op;
  std::vector<std::thread> threads;
  for (int n = 0; n < writers; ++n) {
    threads.emplace_back([&, n] {
      answers.apply(
          ref_, records::Apply{{expecting(document("a", 100 + n), version)}, {}, false, "suite"},
          op);
    });
  }
  for (auto& t : threads) t.join();
  ASSERT_TRUE(answers.wait(writers));
  std::multiset<std::string> all;
  for (int n = 0; n < writers; ++n) all.insert(outcomes(answers.applied(n)));
  EXPECT_EQ(all.count("changed"), 1u);
  EXPECT_EQ(all.count("10"), writers - 1u);
  fresh_->stop();  // waits for whatever would answer once more
  EXPECT_EQ(answers.count(), size_t{writers});
}

TEST_F(RecordsApply, R14_TheAuthorIsStored) {
  put(document("a"));
  EXPECT_EQ(stored("a").author, "suite");
  apply(records::Apply{{document("a", 2)}, {}, false, "another"});
  EXPECT_EQ(stored("a").author, "another");
  const auto results = apply(records::Apply{{document("a", 3)}});
  ASSERT_EQ(outcomes(results), "3");
  EXPECT_EQ(results[0].error->where, "author");
  EXPECT_EQ(stored("a").author, "another");
}

TEST_F(RecordsApply, AnUnknownCriticalFlagIsUnimplementedAndChangesNothing) {
  const records::Apply one{{document("a")}, {}, false, "suite"};
  const Operation op;
  auto& answers = calls_.emplace_back();
  records::ApplyView whole(one), part(one);
  whole.abi.flags |= DAVIT_CRITICAL(15);
  answers.apply(ref_, whole.abi, op);
  part.documents.front().flags |= DAVIT_CRITICAL(15);
  answers.apply(ref_, part.abi, op);
  davit_records_read read = records::to_abi(all_of_region());
  read.flags |= DAVIT_CRITICAL(15);
  answers.list(ref_, read, op);
  ASSERT_TRUE(answers.wait(3));
  EXPECT_EQ(outcomes(answers.applied(0)), "12");
  EXPECT_EQ(outcomes(answers.applied(1)), "12");
  EXPECT_EQ(answers.found(2).error().code, Code::unimplemented);
  davit_records_watch* out = nullptr;
  static const davit_records_watcher nobody = {sizeof nobody, 0, nullptr, nullptr};
  davit_error e{};
  EXPECT_EQ(static_cast<const davit_records*>(ref_.vtable)
                ->watch(ref_.self, &read, 1, &nobody, nullptr, &out, &e),
            DAVIT_UNIMPLEMENTED);
  EXPECT_EQ(everything(), "");
}

}  // namespace
}  // namespace davit::conformance
