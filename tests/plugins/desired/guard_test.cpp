// The guard against lost updates, and the documents that a dry run shows.
#include <davit/v1/operator.pb.h>

#include "expectation.hpp"
#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::desired {
namespace {

class GuardTest : public ::testing::Test {
 protected:
  GuardTest() : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE) { rig_.up(); }

  template <class Response>
  Response ask(const std::string& method, const google::protobuf::Message& request) {
    return rig_.ask<Response>("OperatorService/" + method, request, "alice");
  }
  static v1::Document document(const std::string& id, int size, const std::string& name = {},
                               const std::string& state = {}) {
    v1::Document d;
    d.set_kind("widget");
    d.set_region("eu");
    d.set_state(state);
    d.set_spec_json("{\"id\":\"" + id + "\",\"ns\":\"shop\",\"name\":\"" +
                    (name.empty() ? "name-" + id : name) + "\",\"size\":" + std::to_string(size) +
                    "}");
    return d;
  }
  static v1::Document expecting(v1::Document d, uint64_t version, uint64_t incarnation = 0) {
    d.set_version(version);
    d.set_incarnation(incarnation);
    return d;
  }
  v1::ApplyResponse apply(const std::vector<v1::Document>& documents, bool dry_run = false,
                          const std::string& request_id = {}) {
    v1::ApplyRequest r;
    for (const auto& d : documents) *r.add_documents() = d;
    r.set_dry_run(dry_run);
    r.set_show_documents(true);
    r.set_request_id(request_id);
    r.add_required_features("document_version");
    r.add_required_features("show_documents");
    return ask<v1::ApplyResponse>("Apply", r);
  }
  v1::Outcome one(const v1::Document& d, bool dry_run = false, const std::string& request_id = {}) {
    return apply({d}, dry_run, request_id).outcomes(0);
  }
  void remove(const std::string& id) {
    v1::DeleteRequest r;
    auto* k = r.add_keys();
    k->set_kind("widget");
    k->set_region("eu");
    k->set_id(id);
    ask<v1::DeleteResponse>("Delete", r);
  }
  v1::StoredRecord stored(const std::string& id) {
    v1::OperatorGetRequest get;
    get.mutable_key()->set_kind("widget");
    get.mutable_key()->set_region("eu");
    get.mutable_key()->set_id(id);
    return ask<v1::OperatorGetResponse>("Get", get).record();
  }
  testing::ServerRig rig_;
};

TEST_F(GuardTest, ADocumentOfAnotherVersionIsRefusedWithWhoChangedTheRecord) {
  apply({document("a", 1)});
  EXPECT_EQ(one(expecting(document("a", 2), 1)).outcome(), "changed");
  // With and without a request id the store or the plugin is first to see it.
  for (const std::string id : {"", "r1"}) {
    for (const bool dry_run : {true, false}) {
      const auto o = one(expecting(document("a", 3), 1), dry_run, id);
      EXPECT_EQ(o.outcome(), "refused");
      EXPECT_EQ(o.code(), DAVIT_ABORTED);
      EXPECT_EQ(o.field(), "version");
      const std::string begin =
          "widget \"a\" of region \"eu\" has version 2, expected was version 1: \"alice\" changed "
          "it at ";
      EXPECT_EQ(o.message().substr(0, begin.size()), begin);
    }
  }
  EXPECT_EQ(stored("a").version(), 2u);
}

TEST_F(GuardTest, WhoAsksForWhatIsStoredLosesNobodysUpdate) {
  apply({document("a", 1)});
  apply({document("a", 2)});
  const auto o = one(expecting(document("a", 2), 1));
  EXPECT_EQ(o.outcome(), "unchanged");
  EXPECT_EQ(o.version(), 2u);
}

TEST_F(GuardTest, ADeletedRecordIsNotMadeAnew) {
  apply({document("a", 1)});
  remove("a");
  const auto o = one(expecting(document("a", 2), 1), false, "r1");
  EXPECT_EQ(o.outcome(), "refused");
  EXPECT_NE(o.message().find("does not exist, expected was version 1: \"alice\" deleted it at "),
            std::string::npos)
      << o.message();
  EXPECT_EQ(one(expecting(document("b", 2), 7)).message(),
            "widget \"b\" of region \"eu\" does not exist, expected was version 7");
}

TEST_F(GuardTest, VersionZeroMeansThatThereIsNone) {
  EXPECT_EQ(one(expecting(document("a", 1), 0)).outcome(), "created");
  const auto o = one(expecting(document("a", 2), 0));
  EXPECT_EQ(o.outcome(), "refused");
  EXPECT_NE(o.message().find("has version 1, expected was no such record"), std::string::npos);
  remove("a");
  EXPECT_EQ(one(expecting(document("a", 2), 0)).outcome(), "created");
}

TEST_F(GuardTest, AVersionOfAnotherHistoryIsAnotherVersion) {
  apply({document("a", 1)});
  const auto read = stored("a");
  ASSERT_NE(read.incarnation(), 0u);
  for (const std::string id : {"", "r1"}) {
    const auto o = one(expecting(document("a", 2), 1, read.incarnation() + 1), false, id);
    EXPECT_EQ(o.outcome(), "refused");
    EXPECT_NE(o.message().find("has version 1 of another history of the store"), std::string::npos)
        << o.message();
  }
  EXPECT_EQ(one(expecting(document("a", 2), read.version(), read.incarnation())).outcome(),
            "changed");
}

TEST(Expectation, AVersionOfAnEarlierIncarnationIsKeptAsTheHistorySays) {
  Record record;
  record.state = "running";
  record.version = 5;
  const auto met = [&](uint64_t version, uint64_t incarnation, const History& history) {
    const auto r = is_met({Version(version), Incarnation(incarnation)}, record, {Incarnation(9), 8},
                          [&]() -> Result<History> { return history; });
    return r.ok() && *r;
  };
  EXPECT_TRUE(met(5, 9, {}));
  EXPECT_TRUE(met(5, 0, {})) << "not known";
  EXPECT_TRUE(met(5, 7, {{Incarnation(7), 6}, {Incarnation(9), 8}}));
  EXPECT_FALSE(met(5, 7, {{Incarnation(7), 4}, {Incarnation(9), 8}})) << "lost, and given again";
  EXPECT_FALSE(met(5, 3, {{Incarnation(7), 6}})) << "of another store";
  EXPECT_FALSE(met(6, 9, {}));
}

// --- what a dry run shows

TEST_F(GuardTest, ADryRunShowsTheDocumentsBeforeAndAfter) {
  apply({document("a", 1), document("same", 1)});
  const auto r = apply({document("a", 2), document("b", 1), document("same", 1)}, true);
  const auto& changed = r.outcomes(0);
  EXPECT_EQ(changed.before().version(), 1u);
  EXPECT_EQ(changed.before().spec_json(), document("a", 1).spec_json());
  EXPECT_EQ(changed.after().spec_json(), document("a", 2).spec_json());
  EXPECT_EQ(changed.after().state(), "running") << "as it would be stored";
  EXPECT_EQ(changed.after().id(), "a");
  EXPECT_FALSE(r.outcomes(1).has_before());
  EXPECT_TRUE(r.outcomes(1).has_after());
  EXPECT_FALSE(r.outcomes(2).has_before() || r.outcomes(2).has_after()) << "nothing differs";
  remove("a");
  EXPECT_FALSE(one(document("a", 2), true).has_before()) << "a tombstone is nothing";
  const auto real = apply({document("b", 1)});
  EXPECT_FALSE(real.outcomes(0).has_after()) << "of a dry run only";
}

TEST_F(GuardTest, ADryRunKnowsTheNamesThatEarlierDocumentsGiveUpAndTake) {
  apply({document("a", 1)});
  const std::vector<v1::Document> all = {document("a", 1, "", "archived"),
                                         document("b", 1, "name-a"), document("c", 1, "name-a")};
  for (const bool dry_run : {true, false}) {
    const auto r = apply(all, dry_run);
    EXPECT_EQ(r.outcomes(0).outcome(), "changed");
    EXPECT_EQ(r.outcomes(1).outcome(), "created") << r.outcomes(1).message();
    EXPECT_EQ(r.outcomes(2).outcome(), "refused");
    EXPECT_EQ(r.outcomes(2).message(), "its name is taken by \"b\", which is live");
  }
}

TEST_F(GuardTest, ListKindsHasWhatAKindsDocumentsMaySay) {
  const auto all = ask<v1::ListKindsResponse>("ListKinds", v1::ListKindsRequest());
  ASSERT_EQ(all.kinds_size(), 1);
  EXPECT_EQ(all.kinds(0), "widget");
  EXPECT_FALSE(all.has_fields());
  v1::ListKindsRequest request;
  request.set_kind("widget");
  const auto widget = ask<v1::ListKindsResponse>("ListKinds", request).fields();
  EXPECT_EQ(widget.kind(), "widget");
  EXPECT_FALSE(widget.spec_type().empty());
  request.set_kind("wigdet");
  auto& c = rig_.rpc.call("davit.v1.OperatorService/ListKinds", request.SerializeAsString(), "");
  rig_.host.run();
  ASSERT_TRUE(c.end);
  EXPECT_EQ(c.end->message, "kind: \"wigdet\" is not known to this server, which knows widget");
}

}  // namespace
}  // namespace davit::desired
