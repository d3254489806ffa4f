// The machines of a Cluster go before it, when the settings say so: the reference's section 4.1.
#include "world.hpp"

namespace davit::clusters::test {
namespace {

class Children : public ::testing::Test {
 protected:
  void SetUp() override {
    w.make("a");
    w.called();
  }
  void make(const std::string& kind, const std::string& plural, const std::string& name,
            const std::string& owner, const std::string& finalizers = R"(["keep/it"])") {
    const auto r = w.api.send(
        {DAVIT_VERB_CREATE,
         {"cluster.k8s.io", "v1alpha1", plural},
         "default",
         "",
         "",
         {},
         {},
         R"({"apiVersion":"cluster.k8s.io/v1alpha1","kind":")" + kind +
             R"(","metadata":{"name":")" + name + R"(","finalizers":)" + finalizers +
             R"(,"labels":{"cluster.k8s.io/cluster-name":"a"},"ownerReferences":[{"uid":")" +
             owner +
             R"(","kind":"Cluster","name":"a","apiVersion":"cluster.k8s.io/v1alpha1"}]}})"});
    ASSERT_EQ(r.code, Code::ok) << r.message;
  }
  json::value get(const std::string& plural, const std::string& name) {
    const auto r = w.api.send(
        {DAVIT_VERB_GET, {"cluster.k8s.io", "v1alpha1", plural}, "default", name, "", {}, {}, ""});
    return r.code == Code::ok ? json::parse(r.body) : json::value();
  }
  bool going(const std::string& plural, const std::string& name) {
    const auto object = get(plural, name);
    return !object.is_null() && object.at("metadata").as_object().contains("deletionTimestamp");
  }
  void release(const std::string& plural, const std::string& name) {
    w.api.send({DAVIT_VERB_MERGE,
                {"cluster.k8s.io", "v1alpha1", plural},
                "default",
                name,
                "",
                {},
                {},
                R"({"metadata":{"finalizers":null}})"});
  }

  World w{{{"children_first", true}}};
};

TEST_F(Children, GoBeforeTheCluster) {
  make("MachineDeployment", "machinedeployments", "d", w.api.uid("a"));
  make("Machine", "machines", "m", w.api.uid("a"), "[]");
  w.remove("a");
  EXPECT_TRUE(going("machinedeployments", "d"));
  EXPECT_TRUE(get("machines", "m").is_null());
  EXPECT_EQ(w.called(), "");
  EXPECT_EQ(w.condition("a", "Deleting"),
            "True Deleting: 2 MachineDeployments, MachineSets and Machines of it are being deleted "
            "first");
  w.wait(1min);
  EXPECT_EQ(w.called(), "");
  release("machinedeployments", "d");
  w.wait(5s);
  EXPECT_EQ(w.called(), "aws: remove a");
  EXPECT_TRUE(w.api.get("a").is_null());
}

TEST_F(Children, OfAnotherOwnerStay) {
  w.make("b");
  make("Machine", "machines", "other", w.api.uid("b"), "[]");
  w.called();
  w.remove("a");
  EXPECT_EQ(w.called(), "aws: remove a");
  EXPECT_FALSE(get("machines", "other").is_null());
}

TEST_F(Children, ThatCannotBeDeletedKeepTheCluster) {
  make("MachineSet", "machinesets", "s", w.api.uid("a"), "[]");
  w.refuse(Code::permission_denied, 403, "not allowed", [](const cluster::Request& q) {
    return q.verb == DAVIT_VERB_DELETE && q.resource.resource == "machinesets";
  });
  w.remove("a");
  w.wait(1min);
  EXPECT_EQ(w.called(), "");
  EXPECT_EQ(w.api.at("a", "/status/errorReason"), "DeleteError");
  EXPECT_TRUE(w.condition("a", "Deleting")
                  .starts_with("True Failed: machinesets \"s\" cannot be deleted: not allowed"))
      << w.condition("a", "Deleting");
  w.refuse_nothing();
  w.wait(1000s);
  EXPECT_TRUE(w.api.get("a").is_null());
}

TEST_F(Children, OfResourcesThatAreNotInstalledAreNone) {
  w.refuse(Code::not_found, 404, "the server could not find the requested resource",
           [](const cluster::Request& q) { return q.resource.resource.starts_with("machine"); });
  w.remove("a");
  EXPECT_EQ(w.called(), "aws: remove a");
}

TEST(ChildrenByDefault, AreNotLookedAt) {
  World w;
  w.make("a");
  w.remove("a");
  EXPECT_EQ(w.api.front->sent.count("get machines"), 0u);
}

}  // namespace
}  // namespace davit::clusters::test
