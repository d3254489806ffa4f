// Role cluster: what a simulated API and a real one must have in common. Every test works in its
// own namespace, so that it can run against a cluster that others use, too.
#include "cluster.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>

namespace davit::conformance {
namespace {

TEST_F(Cluster, ApplyCreatesThenChangesAndKeepsTheUid) {
  const auto made = apply("a", R"({"k":"v"})");
  ASSERT_EQ(made.code, Code::ok) << made.message;
  EXPECT_EQ(made.http_status, 201);
  const auto changed = apply("a", R"({"k":"w"})");
  ASSERT_EQ(changed.code, Code::ok) << changed.message;
  EXPECT_EQ(changed.http_status, 200);
  EXPECT_FALSE(meta(made.body, "uid").empty());
  EXPECT_EQ(meta(made.body, "uid"), meta(changed.body, "uid"));
  EXPECT_NE(meta(made.body, "resourceVersion"), meta(changed.body, "resourceVersion"));
  EXPECT_EQ(data(call("get", config_maps, ns, "a")), R"({"k":"w"})");
}

TEST_F(Cluster, ApplyingTheSameAgainChangesNothing) {
  const auto first = apply("a", R"({"k":"v"})");
  const auto second = apply("a", R"({"k":"v"})");
  EXPECT_EQ(meta(first.body, "resourceVersion"), meta(second.body, "resourceVersion"));
}

TEST_F(Cluster, ApplyRemovesWhatItOmitsAndKeepsWhatOthersSet) {
  apply("a", R"({"k":"v","l":"w"})");
  apply("a", R"({"other":"x"})", "{}", "someone");
  EXPECT_EQ(data(apply("a", R"({"k":"v"})")), R"({"k":"v","other":"x"})");
}

TEST_F(Cluster, ApplyOfAnothersFieldIsAbortedUnlessForced) {
  apply("a", R"({"k":"v"})");
  const auto refused = apply("a", R"({"k":"w"})", "{}", "someone", false);
  EXPECT_EQ(refused.code, Code::aborted);
  EXPECT_EQ(refused.http_status, 409);
  EXPECT_EQ(refused.reason, "Conflict");
  const json::value causes = json::parse(refused.body).at("details").at("causes");
  EXPECT_EQ(causes.at(0).at("reason"), "FieldManagerConflict");
  EXPECT_EQ(causes.at(0).at("field"), ".data.k");
  EXPECT_EQ(data(apply("a", R"({"k":"w"})", "{}", "someone", true)), R"({"k":"w"})");
}

// So a caller that reads an object before it applies does not overwrite a later change.
TEST_F(Cluster, ApplyOfAnOlderVersionIsAbortedThoughItIsForced) {
  const auto old = apply("a", R"({"k":"v"})");
  const auto live = apply("a", R"({"other":"x"})", "{}", "someone");
  const auto refused = apply_to(old, R"({"k":"w"})");
  EXPECT_EQ(refused.code, Code::aborted) << refused.body;
  EXPECT_EQ(refused.http_status, 409);
  EXPECT_EQ(refused.reason, "Conflict");
  EXPECT_FALSE(refused.body.find("FieldManagerConflict") != std::string::npos) << refused.body;
  EXPECT_EQ(apply_to(old, R"({"k":"v"})").code, Code::aborted) << "even if it would change nothing";
  EXPECT_EQ(data(call("get", config_maps, ns, "a")), R"({"k":"v","other":"x"})");
  const auto taken = apply_to(live, R"({"k":"w"})");
  EXPECT_EQ(taken.code, Code::ok) << taken.message;
  EXPECT_EQ(data(taken), R"({"k":"w","other":"x"})");
}

TEST_F(Cluster, ApplyThatNamesAnObjectMakesNoOther) {
  const auto gone = apply("a", R"({"k":"v"})");
  call("delete", config_maps, ns, "a");
  EXPECT_EQ(apply_to(gone, "{}").code, Code::aborted);
  EXPECT_EQ(call("get", config_maps, ns, "a").code, Code::not_found);
  apply("a", R"({"k":"anew"})");
  EXPECT_EQ(apply_to(gone, R"({"k":"w"})").code, Code::aborted);
  EXPECT_EQ(data(call("get", config_maps, ns, "a")), R"({"k":"anew"})");
}

TEST_F(Cluster, ApplyThatNamesNothingButAVersionThatNoObjectHasMakesANewOneOnly) {
  const auto create = [&](const std::string& value) {
    return call("apply", config_maps, ns, "a",
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",
                    "resourceVersion":"9223372036854775807"},"data":{"k":")" +
                    value + "\"}}",
                {{"fieldManager", "suite"}, {"force", "true"}});
  };
  const auto made = create("v");
  EXPECT_EQ(made.http_status, 201) << made.message;
  EXPECT_NE(meta(made.body, "resourceVersion"), "9223372036854775807");
  EXPECT_EQ(create("w").code, Code::aborted);
  EXPECT_EQ(data(call("get", config_maps, ns, "a")), R"({"k":"v"})");
}

TEST_F(Cluster, CreateOfWhatIsThereSaysAlreadyExists) {
  apply("a", "{}");
  const auto r = call("create", config_maps, ns, "a",
                      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})");
  EXPECT_EQ(r.code, Code::already_exists);
  EXPECT_EQ(r.reason, "AlreadyExists");
}

// So "already exists" tells a caller, before it deletes the object, that the API server would
// accept the new one.
TEST_F(Cluster, DryRunJudgesAnObjectBeforeItFindsItsNameTaken) {
  apply("a", R"({"k":"v"})");
  const auto create = [&](const std::string& name, const std::string& labels) {
    return call("create", config_maps, ns, "",
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
                    R"(","labels":)" + labels + "}}",
                {{"dryRun", "All"}});
  };
  EXPECT_EQ(create("a", "{}").reason, "AlreadyExists");
  const auto invalid = create("a", R"({"a":"not valid!"})");
  EXPECT_EQ(invalid.http_status, 422) << invalid.body;
  const json::value causes = json::parse(invalid.body).at("details").at("causes");
  EXPECT_EQ(causes.at(0).at("reason"), "FieldValueInvalid");
  EXPECT_EQ(causes.at(0).at("field"), "metadata.labels");
  EXPECT_EQ(create("b", "{}").http_status, 201);
  EXPECT_EQ(call("get", config_maps, ns, "b").code, Code::not_found);
  EXPECT_EQ(data(call("get", config_maps, ns, "a")), R"({"k":"v"})");
}

TEST_F(Cluster, AbsentObjectsAreNotFound) {
  for (const char* verb : {"get", "delete"}) {
    const auto r = call(verb, config_maps, ns, "absent");
    EXPECT_EQ(r.code, Code::not_found) << verb;
    EXPECT_EQ(r.http_status, 404) << verb;
    EXPECT_EQ(r.reason, "NotFound") << verb;
    EXPECT_EQ(r.message, "configmaps \"absent\" not found") << verb;
  }
}

TEST_F(Cluster, DeleteChecksItsPreconditions) {
  const auto made = apply("a", "{}");
  const std::string uid = meta(made.body, "uid");
  const auto with = [&](const std::string& u, const std::string& version) {
    return call("delete", config_maps, ns, "a",
                R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":")" + u +
                    R"(","resourceVersion":")" + version + "\"}}");
  };
  const std::string version = meta(made.body, "resourceVersion");
  EXPECT_EQ(with("12345678-1234-4234-8234-123456789012", version).code, Code::aborted);
  EXPECT_EQ(with(uid, "1").code, Code::aborted);
  EXPECT_EQ(call("get", config_maps, ns, "a").code, Code::ok);
  EXPECT_EQ(with(uid, version).code, Code::ok);
  EXPECT_EQ(call("get", config_maps, ns, "a").code, Code::not_found);
}

TEST_F(Cluster, UpdateOfAnOlderVersionIsAborted) {
  auto old = apply("a", R"({"k":"v"})");
  apply("a", R"({"k":"w"})");
  const auto r = call("update", config_maps, ns, "a", old.body);
  EXPECT_EQ(r.code, Code::aborted);
  EXPECT_EQ(r.reason, "Conflict");
}

TEST_F(Cluster, MergePatchSetsAndRemoves) {
  apply("a", R"({"k":"v","l":"w"})");
  EXPECT_EQ(data(call("merge", config_maps, ns, "a", R"({"data":{"k":null,"m":"x"}})")),
            R"({"l":"w","m":"x"})");
}

TEST_F(Cluster, NamespaceThatIsMissingIsNotFound) {
  const std::string absent = random_name();
  const auto r = call("apply", config_maps, absent, "a",
                      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})",
                      {{"fieldManager", "suite"}, {"force", "true"}});
  EXPECT_EQ(r.code, Code::not_found);
  EXPECT_EQ(r.message, "namespaces \"" + absent + "\" not found");
}

TEST_F(Cluster, InvalidNameIsAnInvalidArgument) {
  const auto r = apply("Not_A_Name", "{}");
  EXPECT_EQ(r.code, Code::invalid_argument);
  EXPECT_EQ(r.http_status, 422);
  EXPECT_EQ(r.reason, "Invalid");
  EXPECT_NE(r.message.find("Not_A_Name"), std::string::npos) << r.message;
}

TEST_F(Cluster, NonsenseIsAnInvalidArgument) {
  EXPECT_EQ(call("dance", config_maps, ns, "a").code, Code::invalid_argument);
  EXPECT_EQ(call("apply", config_maps, ns, "a", "{", {{"fieldManager", "suite"}}).code,
            Code::invalid_argument);
  EXPECT_EQ(call("get", config_maps, ns, "", "", {{"labelSelector", "a in (b"}}).code,
            Code::invalid_argument);
}

TEST_F(Cluster, ListSelectsByLabelAndName) {
  apply("a", "{}", R"({"app":"web","tier":"front"})");
  apply("b", "{}", R"({"app":"web"})");
  apply("c", "{}");
  const auto names = [&](std::string labels, std::string fields) {
    const auto r =
        call("get", config_maps, ns, "", "",
             {{"labelSelector", std::move(labels)}, {"fieldSelector", std::move(fields)}});
    const auto list = parsed(r.body);
    if (!list.contains("items")) return "no list: " + r.message;
    std::string out;
    for (const auto& item : list.at("items").as_array()) {
      const std::string name = meta(json::serialize(item), "name");
      if (name != "kube-root-ca.crt") out += name;
    }
    return out;
  };
  EXPECT_EQ(names("", ""), "abc");
  EXPECT_EQ(names("app=web", ""), "ab");
  EXPECT_EQ(names("app=web,tier=front", ""), "a");
  EXPECT_EQ(names("app in (web,api),!tier", ""), "b");
  EXPECT_EQ(names("!app", ""), "c");
  EXPECT_EQ(names("", "metadata.name=b"), "b");
}

TEST_F(Cluster, OwnedObjectsGoWithTheirOwner) {
  const std::string uid = meta(apply("owner", "{}").body, "uid");
  const auto made =
      call("apply", config_maps, ns, "child",
           R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"child","ownerReferences":[
                             {"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":")" +
               uid + "\"}]}}",
           {{"fieldManager", "suite"}, {"force", "true"}});
  ASSERT_EQ(made.code, Code::ok) << made.message;
  Seen seen(client, watching(), 1000);
  ASSERT_TRUE(seen.wait_for("SYNCED")) << seen.text();
  call("delete", config_maps, ns, "owner", R"({"propagationPolicy":"Background"})");
  EXPECT_TRUE(seen.wait_for("DELETED child")) << seen.text();
}

TEST_F(Cluster, DiscoverFindsResourceAndScope) {
  const auto discover = [&](std::string group, std::string version, std::string kind) {
    auto answered = std::make_shared<std::promise<Response>>();
    auto future = answered->get_future();
    client.discover(group, version, kind,
                    [answered](Response r) { answered->set_value(std::move(r)); });
    return future.wait_for(patience()) == std::future_status::ready ? future.get() : Response{};
  };
  const auto set = parsed(discover("apps", "", "ReplicaSet").body);
  EXPECT_EQ(
      json::serialize(set),
      R"({"group":"apps","version":"v1","resource":"replicasets","kind":"ReplicaSet","namespaced":true})");
  auto space = parsed(discover("", "v1", "Namespace").body);
  EXPECT_EQ(space["resource"], "namespaces");
  EXPECT_EQ(space["namespaced"], false);
  EXPECT_EQ(discover("apps", "v999", "ReplicaSet").code, Code::not_found);
}

TEST_F(Cluster, IdentityIsTheUidOfKubeSystem) {
  auto answered = std::make_shared<std::promise<Response>>();
  auto future = answered->get_future();
  client.identity([answered](Response r) { answered->set_value(std::move(r)); });
  ASSERT_EQ(future.wait_for(patience()), std::future_status::ready);
  const auto r = future.get();
  EXPECT_EQ(r.code, Code::ok);
  EXPECT_FALSE(r.body.empty());
  EXPECT_EQ(r.body, meta(call("get", namespaces, "", "kube-system").body, "uid"));
}

TEST_F(Cluster, RequestPastItsDeadlineIsDeadlineExceeded) {
  Request q;
  q.verb = "get";
  q.resource = config_maps;
  q.ns = ns;
  q.deadline_ns = fresh.host().now().count() - 1;
  EXPECT_EQ(ask(q).code, Code::deadline_exceeded);
}

// By the table itself: the wrapper could not tell that an answer came twice.
TEST_F(Cluster, ARequestThatIsCancelledIsAnsweredOnce) {
  struct Asked {
    Operation operation;
    std::atomic<int> answers{0};
    std::atomic<int32_t> code{-1};
  };
  constexpr size_t count = 100;
  std::deque<Asked> all(count);
  const davit_ref ref = fresh.instance().ref(DAVIT_CLUSTER);
  davit_cluster_request q{};
  q.struct_size = sizeof q;
  q.verb = str(DAVIT_VERB_GET);
  q.resource = {str(config_maps.group), str(config_maps.version), str(config_maps.resource)};
  q.ns = str(ns);
  for (size_t i = 0; i < count; ++i) {
    if (i % 4 == 0) all[i].operation.cancel();
    static_cast<const davit_cluster*>(ref.vtable)
        ->request(
            ref.self, all[i].operation.abi(), &q,
            [](void* ctx, const davit_cluster_response* r) {
              auto& asked = *static_cast<Asked*>(ctx);
              asked.code = r->code;
              ++asked.answers;
            },
            &all[i]);
    if (i % 4 == 1) all[i].operation.cancel();
  }
  for (size_t i = 2; i < count; i += 4) all[i].operation.cancel();
  const auto end = std::chrono::steady_clock::now() + patience();
  const auto answered = [&] {
    return std::all_of(all.begin(), all.end(), [](const Asked& a) { return a.answers > 0; });
  };
  while (!answered() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(call("get", namespaces, "", ns).code, Code::ok) << "others are served";
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(all[i].answers, 1) << "request " << i;
    const bool cancelled = i % 4 != 3 && all[i].code == DAVIT_CANCELLED;
    EXPECT_TRUE(cancelled || all[i].code == DAVIT_OK) << "request " << i << ": " << all[i].code;
    EXPECT_TRUE(cancelled || i % 4 != 0) << "nobody looks whether the caller still waits";
  }
}

TEST_F(Cluster, StopAnswersEverythingOnce) {
  std::atomic<int> answers{0};
  std::atomic<int> wrong{0};
  Request q;
  q.verb = "get";
  q.resource = config_maps;
  q.ns = ns;
  constexpr int count = 200;
  for (int i = 0; i < count; ++i) {
    client.request(q, [&](const Response& r) {
      ++answers;
      if (r.code != Code::ok && r.code != Code::unavailable && r.code != Code::cancelled) ++wrong;
    });
  }
  Seen seen(client, watching(), 10);
  stopped = true;
  const auto r = fresh.instance().stop();
  EXPECT_TRUE(r.ok()) << why(r);
  EXPECT_EQ(answers, count);
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(seen.wait_ended());
  EXPECT_EQ(seen.ended(), 1);
}

}  // namespace
}  // namespace davit::conformance
