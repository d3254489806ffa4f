#include "lease.hpp"

#include <gtest/gtest.h>

namespace davit::leader {
namespace {

using namespace std::chrono_literals;

const Place held_place{"kube-system", "davit-eu"};
constexpr int64_t moment = 1'795'316'645'006;  // 2026-11-22T03:04:05.006Z

TEST(LeaseObject, IsRead) {
  const auto lease = parse_lease(
      R"({"metadata": {"resourceVersion": "7", "annotations": {"davit.dev/epoch": "12"}},
          "spec": {"holderIdentity": "b_1", "leaseDurationSeconds": 15, "leaseTransitions": 3,
                   "renewTime": "2026-11-22T03:04:05.006000Z"}})");
  ASSERT_TRUE(lease.ok());
  EXPECT_EQ(lease->holder, "b_1");
  EXPECT_EQ(lease->renew_time, "2026-11-22T03:04:05.006000Z");
  EXPECT_EQ(lease->duration, 15s);
  EXPECT_EQ(lease->transitions, 3);
  EXPECT_EQ(lease->epoch, Epoch(12));
  EXPECT_EQ(lease->resource_version, "7");
}

TEST(LeaseObject, OfWhichNothingIsKnownIsNobodys) {
  const auto lease = parse_lease(
      R"({"metadata": {"resourceVersion": "7", "annotations": {"davit.dev/epoch": "x"}},
          "spec": {"leaseDurationSeconds": -1}})");
  ASSERT_TRUE(lease.ok());
  EXPECT_EQ(lease->holder, "");
  EXPECT_EQ(lease->duration, 0s);
  EXPECT_EQ(lease->epoch, Epoch(0));
}

TEST(LeaseObject, ThatIsNoneIsRefused) {
  EXPECT_FALSE(parse_lease("").ok());
  EXPECT_FALSE(parse_lease("[]").ok());
  EXPECT_FALSE(parse_lease(R"({"metadata": {}})").ok());
}

TEST(LeaseObject, IsMade) {
  const auto q = write_request(held_place, {"a_1", "", 15'000ms, 0, 12, ""}, true, moment);
  EXPECT_EQ(q.verb, DAVIT_VERB_CREATE);
  EXPECT_EQ(q.ns, "kube-system");
  EXPECT_EQ(q.name, "");
  EXPECT_EQ(q.body,
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)"
            R"("metadata":{"annotations":{"davit.dev/epoch":"12"},"name":"davit-eu"},)"
            R"("spec":{"holderIdentity":"a_1","leaseDurationSeconds":15,"leaseTransitions":0,)"
            R"("renewTime":"2026-11-22T03:04:05.006000Z",)"
            R"("acquireTime":"2026-11-22T03:04:05.006000Z"}})");
}

TEST(LeaseObject, IsChangedOnlyAsItWasReadAndKeepsWhatIsNotOurs) {
  const auto q = write_request(held_place, {"a_1", "", 2'500ms, 4, 12, "7"}, false, moment);
  EXPECT_EQ(q.verb, DAVIT_VERB_MERGE);
  EXPECT_EQ(q.name, "davit-eu");
  EXPECT_EQ(q.body,
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)"
            R"("metadata":{"annotations":{"davit.dev/epoch":"12"},"resourceVersion":"7"},)"
            R"("spec":{"holderIdentity":"a_1","leaseDurationSeconds":3,"leaseTransitions":4,)"
            R"("renewTime":"2026-11-22T03:04:05.006000Z"}})");
}

TEST(LeaseObject, NeedsNoRightOnAnyOtherLeaseButToCreate) {
  EXPECT_EQ(lease_role(held_place),
            "apiVersion: rbac.authorization.k8s.io/v1\n"
            "kind: Role\n"
            "metadata:\n"
            "  name: davit-eu\n"
            "  namespace: kube-system\n"
            "rules:\n"
            "- apiGroups: [\"coordination.k8s.io\"]\n"
            "  resources: [leases]\n"
            "  resourceNames: [\"davit-eu\"]\n"
            "  verbs: [get, patch]\n"
            "- apiGroups: [\"coordination.k8s.io\"]\n"
            "  resources: [leases]\n"
            "  verbs: [create]\n");
}

TEST(LeaseObject, IsGivenBackWithoutAHolder) {
  const auto q = write_request(held_place, {"", "", 15'000ms, 4, 12, "7"}, false, moment);
  EXPECT_NE(q.body.find(R"("holderIdentity":null)"), std::string::npos) << q.body;
}

}  // namespace
}  // namespace davit::leader
