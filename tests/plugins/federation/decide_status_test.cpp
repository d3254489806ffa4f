// What goes up: section 6 of the behaviour of cr-syncer, and those of its faults that concern it.
#include "pair.hpp"

namespace davit::federation::test {
namespace {

// Both sides have the same spec.
Pair in_step(const std::string& upstream_status, const std::string& downstream_status) {
  Pair p;
  const auto with = [](const std::string& status) {
    return R"("spec":1)" + (status.empty() ? "" : R"(,"status":)" + status);
  };
  p.u = Pair::up(with(upstream_status));
  p.d = Pair::down(with(downstream_status));
  return p;
}

json::value sent(const Pair& p) {
  const Action a = p.act();
  EXPECT_EQ(a.does, Does::status) << a.why;
  const json::value* status = a.object.if_contains("status");
  return status == nullptr ? json::value() : *status;
}

TEST(DecideStatus, GoesUpWhole) {
  const Pair p = in_step(R"({"old":1})", R"({"new":2})");
  EXPECT_EQ(sent(p), parsed(R"({"new":2})"));
  const Action a = p.act();
  EXPECT_FALSE(a.object.contains("spec")) << "a write of /status does not look at it";
  EXPECT_EQ(a.object.at("metadata"), p.u->at("metadata"))
      << "its resourceVersion is sent, and the metadata is upstream's";
}

TEST(DecideStatus, WithoutSubresourceTheDownstreamVersionIsNoted) {
  Pair p = in_step(R"({"old":1})", R"({"new":2})");
  p.rules.status = StatusWrite::whole;
  const Action a = p.act();
  ASSERT_EQ(a.does, Does::status);
  EXPECT_EQ(a.object.at("metadata").at("annotations"),
            parsed(R"({"cr-syncer.cloudrobotics.com/remote-resource-version":"70"})"));
  EXPECT_EQ(a.object.at("spec"), 1);
}

TEST(DecideStatus, WithoutSubresourceTheWriteCausesNoFurtherOne) {
  Pair p = in_step(R"({"old":1})", R"({"new":2})");
  p.rules.status = StatusWrite::whole;
  p.u = p.act().object;
  EXPECT_EQ(p.does(), Does::nothing);
}

TEST(DecideStatus, AlsoWhenOneOfBothIsBeingDeleted) {
  Pair p = in_step(R"({"old":1})", R"({"new":2})");
  p.d = Pair::down(R"("spec":1,"status":{"new":2})", leaving);
  EXPECT_EQ(sent(p), parsed(R"({"new":2})"));
  p.u = Pair::up(R"("spec":1)", leaving);
  EXPECT_EQ(sent(p), parsed(R"({"new":2})")) << "upstream's finalizer may wait for it";
}

TEST(DecideStatus, B5AnAbsentOneWipesNothing) {
  Pair p = in_step(R"({"s":1})", "");
  EXPECT_EQ(p.does(), Does::nothing) << "with a subresource a create drops the status";
  p = in_step(R"({"s":1})", "null");
  EXPECT_EQ(p.does(), Does::nothing);
  p.rules.status = StatusWrite::whole;
  EXPECT_EQ(p.does(), Does::nothing);
  p.rules.subtree = "robot";
  EXPECT_EQ(p.does(), Does::nothing);
}

TEST(DecideStatus, B6IsNotSentWhenItDoesNotDiffer) {
  EXPECT_EQ(in_step(R"({"a":1,"b":2})", R"({"b":2,"a":1})").does(), Does::nothing);
  EXPECT_EQ(in_step("", "").does(), Does::nothing);
}

TEST(DecideStatus, OneThatIsEditedUpstreamIsOverwritten) {
  EXPECT_EQ(sent(in_step(R"({"edited":1})", R"({"s":1})")), parsed(R"({"s":1})"));
}

TEST(DecideStatus, TravelsOnlyWhereTheRulesSaySo) {
  Pair p = in_step(R"({"old":1})", R"({"new":2})");
  p.rules.status = StatusWrite::none;
  EXPECT_EQ(p.does(), Does::nothing);
}

TEST(DecideStatus, IsNeverCopiedToAnObjectThatWasMadeAnew) {
  Pair p = in_step("", R"({"of":"before"})");
  p.d = Pair::down(R"("spec":1,"status":{"of":"before"})", "", "u0");
  EXPECT_EQ(p.does(), Does::remove);
  p.written.removed = "d1";
  EXPECT_EQ(p.does(), Does::wait);
  p.d = Pair::down(R"("spec":1,"status":{"of":"before"})", leaving, "u0");
  EXPECT_EQ(p.does(), Does::wait);
}

TEST(DecideStatus, OfAnObjectOfUnknownOriginWaits) {
  Pair p = in_step("", R"({"s":1})");
  p.d = object(R"("uid":"d1","resourceVersion":"1")", R"("spec":1,"status":{"s":1})");
  p.written.refused = p.act().hash;
  EXPECT_EQ(p.does(), Does::stuck) << "downstream refuses the note";
  p.rules.match_uid = false;
  EXPECT_EQ(p.does(), Does::status) << "as cr-syncer does";
}

TEST(DecideStatus, GoesUpAlsoWhenDownstreamRefusesTheNextSpec) {
  Pair p = in_step(R"({"old":1})", R"({"new":2,"observedGeneration":3})");
  p.u->at("spec") = "bad";
  p.written.refused = p.act().hash;
  EXPECT_EQ(sent(p), parsed(R"({"new":2,"observedGeneration":0})"))
      << "and it does not claim that the bad one was observed";
}

TEST(DecideStatus, WhatUpstreamRefusesIsNotSentAgainUntilItDiffers) {
  Pair p = in_step(R"({"old":1})", R"({"new":2})");
  p.written.status_refused = p.act().hash;
  p.written.refusal = "422: status";
  EXPECT_EQ(p.does(), Does::stuck);
  p.d->at("status") = "other";
  EXPECT_EQ(p.does(), Does::status);
}

TEST(DecideStatus, WhoKeepsChangingItUpstreamIsNotAnsweredAtOnce) {
  Pair p = in_step(R"({"theirs":1})", R"({"ours":2})");
  p.written.status_wanted = p.act().hash;
  EXPECT_EQ(p.does(), Does::status);
  p.written.status_rests = true;
  EXPECT_EQ(p.does(), Does::wait);
  p.d->at("status") = "new";
  EXPECT_EQ(p.does(), Does::status);
}

// --- a subtree

Pair subtree(const std::string& upstream_status, const std::string& downstream_status) {
  Pair p = in_step(upstream_status, downstream_status);
  p.rules.subtree = "robot";
  return p;
}

TEST(DecideSubtree, OnlyItGoesUp) {
  EXPECT_EQ(sent(subtree(R"({"cloud":1,"robot":1})", R"({"cloud":9,"robot":2})")),
            parsed(R"({"cloud":1,"robot":2})"));
}

TEST(DecideSubtree, UpstreamsStatusIsMadeIfItIsAbsent) {
  EXPECT_EQ(sent(subtree("", R"({"robot":2})")), parsed(R"({"robot":2})"));
}

TEST(DecideSubtree, IsRemovedUpstreamWhenDownstreamsStatusHasNone) {
  EXPECT_EQ(sent(subtree(R"({"cloud":1,"robot":1})", R"({"x":1})")), parsed(R"({"cloud":1})"));
  EXPECT_EQ(sent(subtree(R"({"cloud":1,"robot":1})", R"({"robot":null})")),
            parsed(R"({"cloud":1})"));
}

TEST(DecideSubtree, AnAbsentStatusChangesAndSendsNothing) {
  EXPECT_EQ(subtree(R"({"robot":1})", "").does(), Does::nothing);
}

TEST(DecideSubtree, IsNotSentWhenItDoesNotDiffer) {
  EXPECT_EQ(subtree(R"({"cloud":1,"robot":1})", R"({"robot":1})").does(), Does::nothing);
  EXPECT_EQ(subtree(R"({"cloud":1})", R"({"x":1})").does(), Does::nothing);
}

TEST(DecideSubtree, AStatusThatIsNoObjectIsSaid) {
  EXPECT_EQ(subtree(R"({"robot":1})", R"("text")").does(), Does::stuck);
  EXPECT_EQ(subtree(R"("text")", R"({"robot":1})").does(), Does::stuck);
}

TEST(DecideSubtree, ObservedGenerationIsNotTouched) {
  EXPECT_EQ(sent(subtree("", R"({"robot":2,"observedGeneration":3})")), parsed(R"({"robot":2})"));
}

// --- observedGeneration: upstream's generation is 2, downstream's 3

TEST(DecideGeneration, IsMappedWhenDownstreamHasObservedThePresentSpec) {
  EXPECT_EQ(sent(in_step(R"({"observedGeneration":1})", R"({"observedGeneration":3})")),
            parsed(R"({"observedGeneration":2})"));
}

TEST(DecideGeneration, IsZeroWhenDownstreamIsBehind) {
  EXPECT_EQ(sent(in_step("", R"({"observedGeneration":1})")),
            parsed(R"({"observedGeneration":0})"));
}

TEST(DecideGeneration, B4IsNotMappedBeforeTheNewSpecHasGoneDown) {
  Pair p = in_step(R"({"observedGeneration":2})", R"({"observedGeneration":3})");
  p.u->at("spec") = "new";
  p.u->at("metadata").as_object()["generation"] = 3;
  EXPECT_EQ(p.does(), Does::update) << "the spec goes first";
  p.d = Pair::down(R"("spec":"new","status":{"observedGeneration":3})");
  p.d->at("metadata").as_object()["generation"] = 4;
  EXPECT_EQ(sent(p), parsed(R"({"observedGeneration":0})"));
  p.d->at("status") = parsed(R"({"observedGeneration":4})");
  EXPECT_EQ(sent(p), parsed(R"({"observedGeneration":3})"));
}

TEST(DecideGeneration, IsMappedWhereTheServerAddsDefaults) {
  Pair p = in_step("", R"({"observedGeneration":3})");
  p.d->at("spec") = parsed(R"({"default":1})");
  p.written.wanted = p.act().hash;
  p.written.became = hash_of(content_of(p.rules, *p.d));
  EXPECT_EQ(sent(p), parsed(R"({"observedGeneration":2})"));
}

TEST(DecideGeneration, WhatIsNoIntegerIsCopied) {
  EXPECT_EQ(sent(in_step("", R"({"observedGeneration":3.0})")),
            parsed(R"({"observedGeneration":3.0})"));
  EXPECT_EQ(sent(in_step("", R"({"observedGeneration":"3"})")),
            parsed(R"({"observedGeneration":"3"})"));
}

TEST(DecideGeneration, WithoutSubresourceItIsZeroAndEndsThere) {
  Pair p = in_step("", R"({"observedGeneration":3})");
  p.rules.status = StatusWrite::whole;
  EXPECT_EQ(sent(p), parsed(R"({"observedGeneration":0})"));
  p.u = p.act().object;
  p.u->at("metadata").as_object()["generation"] = 3;
  EXPECT_EQ(p.does(), Does::nothing) << "the write of the status was a generation of its own";
}

TEST(DecideGeneration, IsCopiedWhereTheSettingSaysSo) {
  Pair p = in_step("", R"({"observedGeneration":3})");
  p.rules.map_generation = false;
  EXPECT_EQ(sent(p), parsed(R"({"observedGeneration":3})"));
}

}  // namespace
}  // namespace davit::federation::test
