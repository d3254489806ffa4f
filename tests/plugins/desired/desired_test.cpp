// The plugin as a whole: real store, fake transport.
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
    auto& c = rig_.rpc.call("davit.v1.OperatorService/" + method, request.SerializeAsString(), "",
                            [](davit_rpc_call& made) { made.token = "alice"; });
    rig_.host.run();
    Response out;
    EXPECT_EQ(c.messages.size(), 1u) << (c.end ? c.end->message : "no answer");
    EXPECT_TRUE(out.ParseFromString(c.messages.empty() ? "" : c.messages[0]));
    return out;
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
  EXPECT_EQ(rig_.storage.head()->head.version, 0u);
}

TEST_F(DesiredTest, ARepeatedRequestChangesNothing) {
  apply({document("a")}, false, "r1");
  apply({document("a", 2)});
  apply({document("a")}, false, "r1");
  EXPECT_EQ(rig_.storage.head()->head.version, 2u);
}

TEST_F(DesiredTest, DeletedRecordsCanBeAppliedAgain) {
  apply({document("a")});
  EXPECT_EQ(remove("a"), "deleted");
  EXPECT_EQ(remove("a"), "absent");
  EXPECT_EQ(remove("nobody"), "absent");
  EXPECT_EQ(show(apply({document("a")})), "a:created@3");
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
  const uint64_t incarnation = rig_.storage.head()->head.incarnation;
  ASSERT_TRUE(
      rig_.storage.progress({"eu", "agent", "davit", 1, {{"widget", {incarnation, 1}}}, {}, 1})
          .ok());
  const auto status = ask<v1::StatusResponse>("Status", v1::StatusRequest());
  EXPECT_EQ(status.objects_size(), 3);
  ASSERT_EQ(status.agents_size(), 1);
  EXPECT_EQ(status.agents(0).lag(), 2u);
}

}  // namespace
}  // namespace davit::desired
