// The plugin as a whole: real store, fake transport.
#include <map>

#include <davit/v1/operator.pb.h>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::desired {
namespace {

class DesiredTest : public ::testing::Test {
 protected:
  DesiredTest() : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE) { rig_.up(); }

  template <class Response>
  Response ask(const std::string& method, const google::protobuf::Message& request) {
    return rig_.ask<Response>("OperatorService/" + method, request, "alice");
  }
  static v1::Document document(const std::string& id, int size = 1, const std::string& more = {}) {
    v1::Document d;
    d.set_kind("widget");
    d.set_region("eu");
    d.set_spec_json("{\"id\":\"" + id + "\",\"ns\":\"shop\",\"name\":\"name-" + id +
                    "\",\"size\":" + std::to_string(size) + more + "}");
    return d;
  }
  v1::ApplyResponse apply(const std::vector<v1::Document>& documents, bool dry_run = false,
                          const std::string& request_id = {}) {
    v1::ApplyRequest r;
    for (const auto& d : documents) *r.add_documents() = d;
    r.set_dry_run(dry_run);
    r.set_request_id(request_id);
    return ask<v1::ApplyResponse>("Apply", r);
  }
  // "a:created@1"
  static std::string show(const v1::ApplyResponse& r) {
    std::string out;
    for (const auto& o : r.outcomes()) {
      out += o.id() + ":" + o.outcome() +
             (o.version() == 0 ? "" : "@" + std::to_string(o.version())) + " ";
    }
    if (!out.empty()) out.pop_back();
    return out;
  }
  std::string remove(const std::string& id) {
    v1::DeleteRequest r;
    auto* k = r.add_keys();
    k->set_kind("widget");
    k->set_region("eu");
    k->set_id(id);
    return ask<v1::DeleteResponse>("Delete", r).outcomes(0).outcome();
  }
  testing::ServerRig rig_;
};

TEST_F(DesiredTest, ApplySaysWhatBecameOfEachDocumentInOrder) {
  EXPECT_EQ(show(apply({document("a"), document("b")})), "a:created@1 b:created@2");
  EXPECT_EQ(show(apply({document("b", 2), document("a"), document("c")})),
            "b:changed@3 a:unchanged@1 c:created@4");
}

TEST_F(DesiredTest, AgainGivesWhatIsUnchangedANewVersion) {
  apply({document("a")});
  v1::ApplyRequest r;
  *r.add_documents() = document("a");
  r.set_again(true);
  r.set_request_id("42");
  EXPECT_EQ(show(ask<v1::ApplyResponse>("Apply", r)), "a:applied@2");
  EXPECT_EQ(show(ask<v1::ApplyResponse>("Apply", r)), "a:applied@2") << "the same request";
  r.set_again(false);
  EXPECT_EQ(show(ask<v1::ApplyResponse>("Apply", r)), "a:unchanged@2");
}

TEST_F(DesiredTest, RefusedDocumentsNameTheirFieldAndLeaveTheirNeighbours) {
  v1::Document no_region = document("r");
  no_region.clear_region();
  v1::Document gadget = document("g");
  gadget.set_kind("gadget");
  v1::Document other_id = document("o");
  other_id.set_id("else");
  v1::Document asleep = document("s");
  asleep.set_state("sleeping");
  v1::Document deleted = document("d");
  deleted.set_state("deleted");
  const auto r = apply({document("a", -1), no_region, gadget, other_id, asleep, deleted,
                        document("u", 1, ",\"unknown\":1"), document("good"), document("good")});
  const char* const fields[] = {"spec.size", "region",       "kind", "id", "state",
                                "state",     "spec.unknown", "",     "id"};
  ASSERT_EQ(r.outcomes_size(), 9);
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(r.outcomes(i).outcome(), i == 7 ? "created" : "refused") << i;
    EXPECT_EQ(r.outcomes(i).field(), fields[i]) << i;
    const int code = i == 7 ? DAVIT_OK : DAVIT_INVALID_ARGUMENT;
    EXPECT_EQ(r.outcomes(i).code(), code) << i;
  }
  EXPECT_EQ(r.outcomes(0).message(), "must be at least 0");
}

TEST_F(DesiredTest, ARegionThatNoAgentCanComeFromIsRefused) {
  v1::Document d = document("a");
  d.set_region("nowhere");
  const auto r = apply({d});
  EXPECT_EQ(r.outcomes(0).code(), DAVIT_INVALID_ARGUMENT);
  EXPECT_EQ(r.outcomes(0).field(), "region");
  EXPECT_EQ(r.outcomes(0).message(), "\"nowhere\" is not known: no token of an agent names it");
}

TEST_F(DesiredTest, ANameThatIsTakenIsRefusedWithItsOwner) {
  apply({document("a")});
  v1::Document b = document("b");
  b.set_spec_json(R"({"id":"b","ns":"shop","name":"name-a"})");
  const auto r = apply({b});
  EXPECT_EQ(r.outcomes(0).code(), DAVIT_ALREADY_EXISTS);
  EXPECT_NE(r.outcomes(0).message().find("\"a\""), std::string::npos) << r.outcomes(0).message();
}

TEST_F(DesiredTest, DryRunChangesNothing) {
  EXPECT_EQ(show(apply({document("a")}, true)), "a:created");
  EXPECT_EQ(rig_.storage.head()->head.version, Version(0));
}

TEST_F(DesiredTest, ARepeatedRequestChangesNothing) {
  apply({document("a")}, false, "r1");
  apply({document("a", 2)});
  apply({document("a")}, false, "r1");
  EXPECT_EQ(rig_.storage.head()->head.version, Version(2));
}

// It would lose a write without a word.
TEST_F(DesiredTest, ARequestIdWithAnotherContentIsRefused) {
  EXPECT_EQ(show(apply({document("a")}, false, "42")), "a:created@1");
  const auto r = apply({document("b")}, false, "42");
  EXPECT_EQ(r.outcomes(0).outcome(), "refused");
  EXPECT_EQ(r.outcomes(0).code(), DAVIT_FAILED_PRECONDITION);
  EXPECT_EQ(r.outcomes(0).message(),
            "the request id was used before for something else: use a new one");
  EXPECT_EQ(rig_.storage.head()->head.version, Version(1));
  EXPECT_EQ(show(apply({document("b")}, false, "43")), "b:created@2");
}

TEST_F(DesiredTest, TwoCallersMayChooseTheSameRequestId) {
  apply({document("a")}, false, "42");
  v1::ApplyRequest r;
  *r.add_documents() = document("b");
  r.set_request_id("42");
  auto& c = rig_.rpc.call("davit.v1.OperatorService/Apply", r.SerializeAsString(), "",
                          [](davit_rpc_call& made) { made.token = "bob"; });
  rig_.host.run();
  v1::ApplyResponse out;
  ASSERT_TRUE(out.ParseFromString(c.messages.at(0)));
  EXPECT_EQ(show(out), "b:created@2");
}

// --- a dry run promises nothing that apply refuses

TEST_F(DesiredTest, ADryRunRefusesWhatApplyRefuses) {
  apply({document("a")});
  v1::Document moved = document("a");
  moved.set_spec_json(R"({"id":"a","ns":"mall","name":"name-a","size":1})");
  v1::Document taken = document("b");
  taken.set_spec_json(R"({"id":"b","ns":"shop","name":"name-a"})");
  v1::Document first = document("c"), second = document("d");
  first.set_spec_json(R"({"id":"c","ns":"shop","name":"new"})");
  second.set_spec_json(R"({"id":"d","ns":"shop","name":"new"})");
  const std::vector<v1::Document> all{moved, taken, first, second, document("a", 2)};
  const auto dry = apply(all, true);
  EXPECT_EQ(show(dry), "a:refused b:refused c:created d:refused a:refused");
  const auto real = apply(all);
  ASSERT_EQ(real.outcomes_size(), dry.outcomes_size());
  for (int i = 0; i < real.outcomes_size(); ++i) {
    EXPECT_EQ(real.outcomes(i).outcome(), dry.outcomes(i).outcome()) << i;
    EXPECT_EQ(real.outcomes(i).code(), dry.outcomes(i).code()) << i;
    EXPECT_EQ(real.outcomes(i).message(), dry.outcomes(i).message()) << i;
  }
}

TEST_F(DesiredTest, ADryRunKnowsThatTheNameOfADeadRecordIsFree) {
  apply({document("a")});
  remove("a");
  v1::Document b = document("b");
  b.set_spec_json(R"({"id":"b","ns":"shop","name":"name-a"})");
  EXPECT_EQ(show(apply({b}, true)), "b:created");
  EXPECT_EQ(show(apply({document("a")}, true)), "a:created");
}

TEST_F(DesiredTest, DeletedRecordsCanBeAppliedAgain) {
  apply({document("a")});
  EXPECT_EQ(remove("a"), "deleted");
  EXPECT_EQ(remove("a"), "absent");
  EXPECT_EQ(remove("nobody"), "absent");
  EXPECT_EQ(show(apply({document("a")})), "a:created@3");
}

TEST_F(DesiredTest, AnOrphanIsDeletedByItsIdAndADryRunOnlySaysSo) {
  const Issue orphan{"widget", "lost", "shop", "web", 3, "orphaned", "not named"};
  ASSERT_TRUE(rig_.storage.progress({"eu", "agent", "davit", 1, {}, {orphan}, 1}).ok());
  v1::DeleteRequest r;
  auto* k = r.add_keys();
  k->set_kind("widget");
  k->set_region("eu");
  k->set_id("lost");
  r.set_dry_run(true);
  for (const uint64_t version : {0, 1}) {
    const auto said = ask<v1::DeleteResponse>("Delete", r).outcomes(0);
    EXPECT_EQ(said.outcome(), "deleted");
    EXPECT_EQ(said.message(), "an orphan: its agent removes shop/web");
    EXPECT_EQ(said.version(), version);
    r.set_dry_run(false);
  }
  v1::ListRequest list;
  EXPECT_EQ(ask<v1::ListResponse>("List", list).records_size(), 0);
  list.set_include_deleted(true);
  const auto dead = ask<v1::ListResponse>("List", list);
  ASSERT_EQ(dead.records_size(), 1);
  EXPECT_EQ(dead.records(0).name(), "web");
  EXPECT_EQ(remove("nobody"), "absent");
}

TEST_F(DesiredTest, ListNamesWhatIsArchivedAndNotWhatIsDeleted) {
  rig_.put("a", "archived", false);
  rig_.put("b");
  rig_.kill("b");
  const auto all = ask<v1::ListResponse>("List", v1::ListRequest());
  ASSERT_EQ(all.records_size(), 1);
  EXPECT_EQ(all.records(0).document().state(), "archived");
}

TEST_F(DesiredTest, GetAndListGiveBackWhatWasApplied) {
  v1::Document d = document("a", 7);
  (*d.mutable_annotations())["k"] = "v";
  apply({d, document("b"), document("c")});
  remove("b");
  v1::OperatorGetRequest get;
  get.mutable_key()->set_kind("widget");
  get.mutable_key()->set_region("eu");
  get.mutable_key()->set_id("a");
  const auto got = ask<v1::OperatorGetResponse>("Get", get).record();
  EXPECT_EQ(got.document().spec_json(), d.spec_json());
  EXPECT_EQ(got.document().state(), "running");
  EXPECT_EQ(got.document().annotations().at("k"), "v");
  EXPECT_EQ(got.author(), "alice");
  EXPECT_TRUE(got.live());

  v1::ListRequest list;
  list.set_page_size(1);
  std::string ids;
  do {
    const auto page = ask<v1::ListResponse>("List", list);
    for (const auto& r : page.records()) ids += r.document().id();
    list.set_page_token(page.next_page_token());
  } while (!list.page_token().empty());
  EXPECT_EQ(ids, "ac");
}

// An answer that holds nothing would look as if all were well.
TEST_F(DesiredTest, AKindThatIsNotKnownIsSaidSoByEveryMethod) {
  const std::string expected = "kind: \"wigdet\" is not known to this server, which knows widget";
  const auto refusal = [&](const std::string& method, const google::protobuf::Message& request) {
    auto& c = rig_.rpc.call("davit.v1.OperatorService/" + method, request.SerializeAsString(), "",
                            [](davit_rpc_call& made) { made.token = "alice"; });
    rig_.host.run();
    return c.messages.empty() && c.end ? c.end->message : "answered";
  };
  v1::ListRequest list;
  list.set_kind("wigdet");
  EXPECT_EQ(refusal("List", list), expected);
  v1::StatusRequest status;
  status.set_kind("wigdet");
  EXPECT_EQ(refusal("Status", status), expected);
  v1::OperatorGetRequest get;
  get.mutable_key()->set_kind("wigdet");
  get.mutable_key()->set_region("eu");
  get.mutable_key()->set_id("a");
  EXPECT_EQ(refusal("Get", get), expected);
  v1::DeleteRequest remove;
  *remove.add_keys() = get.key();
  const auto outcome = ask<v1::DeleteResponse>("Delete", remove).outcomes(0);
  EXPECT_EQ(outcome.outcome(), "refused");
  EXPECT_EQ(outcome.field() + ": " + outcome.message(), expected);
}

TEST_F(DesiredTest, LagIsTheNumberOfRecordsAboveTheAgentsCursor) {
  apply({document("a"), document("b"), document("c")});
  const Incarnation incarnation = rig_.storage.head()->head.incarnation;
  ASSERT_TRUE(
      rig_.storage.progress({"eu", "agent", "davit", 1, {{"widget", {incarnation, 1}}}, {}, 1})
          .ok());
  const auto status = ask<v1::StatusResponse>("Status", v1::StatusRequest());
  EXPECT_EQ(status.objects_size(), 3);
  ASSERT_EQ(status.agents_size(), 1);
  EXPECT_EQ(status.agents(0).lag(), 2u);
}

TEST_F(DesiredTest, AnAgentIsForgottenByAnOperatorsWord) {
  ASSERT_TRUE(rig_.storage.progress({"eu", "old", "davit", 1, {}, {}, 77}).ok());
  v1::ForgetAgentRequest forget;
  forget.set_region("eu");
  forget.set_agent("old");
  EXPECT_EQ(ask<v1::ForgetAgentResponse>("ForgetAgent", forget).seen_at_unix_ms(), 77);
  EXPECT_EQ(ask<v1::StatusResponse>("Status", v1::StatusRequest()).agents_size(), 0);
  auto& c = rig_.rpc.call("davit.v1.OperatorService/ForgetAgent", forget.SerializeAsString(), "");
  rig_.host.run();
  EXPECT_EQ(c.end->code, Code::not_found);
}

// --- ListStatus

class ListStatusTest : public DesiredTest {
 protected:
  // Ends with OK, or the reason.
  std::string list(v1::StatusResponse& all, const v1::StatusRequest& request = {}) {
    auto& c = rig_.rpc.call("davit.v1.OperatorService/ListStatus", request.SerializeAsString(), "");
    rig_.host.run();
    for (const auto& message : c.messages) {
      v1::StatusResponse page;
      EXPECT_TRUE(page.ParseFromString(message));
      all.MergeFrom(page);
      ++pages_;
    }
    return !c.end ? "goes on" : c.end->code == Code::ok ? "" : c.end->message;
  }
  void observe(const std::string& id, bool gone = false) {
    Status s;
    s.key = {"widget", "eu", id};
    s.health = "healthy";
    s.epoch = 1;
    s.sequence = ++sequence_;
    s.gone = gone;
    ASSERT_TRUE(rig_.storage.report_now({s}).ok());
  }
  int pages_ = 0;
  uint64_t sequence_ = 0;
};

TEST_F(ListStatusTest, SaysWhatStatusSaysPageByPage) {
  for (int i = 0; i < 2500; ++i) rig_.put("w" + std::to_string(i));
  for (int i = 0; i < 1200; ++i) observe("w" + std::to_string(i));
  rig_.kill("w1");
  rig_.kill("w2");
  observe("w2", true);
  ASSERT_TRUE(rig_.storage.progress({"eu", "agent", "davit", 1, {}, {}, 1}).ok());
  v1::StatusResponse paged;
  EXPECT_EQ(list(paged), "");
  EXPECT_GT(pages_, 3);
  const auto whole = ask<v1::StatusResponse>("Status", v1::StatusRequest());
  EXPECT_EQ(paged.head().version(), whole.head().version());
  EXPECT_EQ(paged.agents_size(), 1);
  EXPECT_EQ(paged.regions_size(), whole.regions_size());
  std::map<std::string, std::string> one, other;
  for (const auto& o : paged.objects())
    EXPECT_TRUE(one.emplace(o.id(), o.SerializeAsString()).second) << o.id() << " twice";
  for (const auto& o : whole.objects()) other.emplace(o.id(), o.SerializeAsString());
  EXPECT_EQ(other.size(), 2499u) << "the dead one of which something is left, too";
  EXPECT_EQ(one, other);
}

TEST_F(ListStatusTest, SaysOnlyWhatWasAskedForAndThatAKindIsMistyped) {
  rig_.put("a");
  rig_.put("b");
  rig_.put("far", "running", true, {}, "us");
  observe("a");
  v1::StatusRequest request;
  request.set_region("eu");
  request.set_id("a");
  v1::StatusResponse all;
  EXPECT_EQ(list(all, request), "");
  ASSERT_EQ(all.objects_size(), 1);
  EXPECT_EQ(all.objects(0).observed().health(), "healthy");
  v1::StatusRequest mistyped;
  mistyped.set_kind("wigdet");
  EXPECT_EQ(list(all, mistyped),
            "kind: \"wigdet\" is not known to this server, which knows widget");
}

// Which of them answers would be an accident.
TEST(Desired, TwoInstancesOfOneKindAreRefused) {
  testing::ServerRig rig(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE);
  testing::TestHost other(rig.store_host, "second");
  testing::Instance second(testing::widget_plugin(), other);
  ASSERT_TRUE(second.up().ok());
  const auto r = rig.instance.up();
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(
      r.error().message,
      "kind \"widget\" is given by two instances, \"widget\" and \"second\": remove one of them");
}

}  // namespace
}  // namespace davit::desired
