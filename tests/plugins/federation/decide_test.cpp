// What goes down, and what is deleted: sections 4, 5 and 7 of the behaviour of cr-syncer, and those
// of its faults that concern them.
#include "pair.hpp"

namespace davit::federation::test {
namespace {

// --- an event upstream

TEST(DecideDown, NothingWhenNeitherSideHasIt) {
  EXPECT_EQ(Pair().does(), Does::nothing);
}

TEST(DecideDown, DeletesWhatIsGoneUpstream) {
  Pair p;
  p.d = Pair::down(R"("spec":1)");
  const Action a = p.act();
  EXPECT_EQ(a.does, Does::remove);
  EXPECT_EQ(a.uid, "d1") << "the delete names the object that was judged";
  EXPECT_EQ(a.resource_version, "70");
}

TEST(DecideDown, DeletesWhatIsBeingDeletedUpstreamAndSendsNoSpec) {
  Pair p;
  p.u = Pair::up(R"("spec":2)", leaving);
  p.d = Pair::down(R"("spec":1)");
  EXPECT_EQ(p.does(), Does::remove);
  p.d.reset();
  EXPECT_EQ(p.does(), Does::nothing) << "it is not made again for the time of a finalizer";
}

TEST(DecideDown, CreatesWhatIsMissing) {
  Pair p;
  p.u = Pair::up(R"("spec":{"x":1},"status":{"s":1},"data":{"no":1})",
                 R"("labels":{"l":"1"},"finalizers":["f"],"ownerReferences":[{"uid":"o"}],)"
                 R"("generateName":"g-","managedFields":[],"creationTimestamp":"t",)"
                 R"("annotations":{"kept":"1",)"
                 R"("cr-syncer.cloudrobotics.com/remote-resource-version":"5"})");
  const Action a = p.act();
  EXPECT_EQ(a.does, Does::create);
  EXPECT_EQ(a.object, parsed(R"({"apiVersion":"g/v1","kind":"Robot",
    "metadata":{"name":"a","namespace":"n","labels":{"l":"1"},
                "annotations":{"kept":"1","davit.dev/upstream-uid":"u1"}},
    "spec":{"x":1},"status":{"s":1}})"));
}

TEST(DecideDown, AnAbsentSpecOrStatusIsLeftOut) {
  Pair p;
  p.u = Pair::up(R"("spec":null)");
  EXPECT_FALSE(p.act().object.contains("spec"));
  EXPECT_FALSE(p.act().object.contains("status"));
  p.d = Pair::down(R"("spec":1)");
  EXPECT_EQ(p.does(), Does::update);
  EXPECT_FALSE(p.act().object.contains("spec"));
}

TEST(DecideDown, UpdatesLabelsAnnotationsAndSpecAndKeepsTheRest) {
  Pair p;
  p.u = Pair::up(R"("spec":{"x":2})", R"("labels":{"l":"2"},"annotations":{"k":"2"})");
  p.d = Pair::down(R"("spec":{"x":1,"old":1},"status":{"s":1},"other":7)",
                   R"("labels":{"l":"1","added":"1"},"finalizers":["f"])");
  const Action a = p.act();
  EXPECT_EQ(a.does, Does::update);
  EXPECT_EQ(a.object, parsed(R"({"apiVersion":"g/v1","kind":"Robot",
    "metadata":{"name":"a","namespace":"n","uid":"d1","resourceVersion":"70","generation":3,
                "labels":{"l":"2"},"finalizers":["f"],
                "annotations":{"k":"2","davit.dev/upstream-uid":"u1"}},
    "spec":{"x":2},"other":7})"));
  p.rules.status = StatusWrite::whole;
  EXPECT_EQ(p.act().object.at("status"), parsed(R"({"s":1})"))
      << "without a subresource the write would delete it";
}

TEST(DecideDown, UpdatesWhatIsBeingDeletedDownstreamOfTheSameObject) {
  Pair p;
  p.u = Pair::up(R"("spec":2)");
  p.d = Pair::down(R"("spec":1)", leaving);
  EXPECT_EQ(p.does(), Does::update);
}

TEST(DecideDown, SpecAndStatusMayBeAnyValue) {
  Pair p;
  p.u = Pair::up(R"("spec":"text","status":"old")");
  p.d = Pair::down(R"("spec":"other")");
  EXPECT_EQ(p.act().object.at("spec"), "text");
  p.d = Pair::down(R"("spec":"text","status":"new")");
  EXPECT_EQ(p.act().object.at("status"), "new");
}

TEST(DecideDown, FieldsAreThoseOfTheRules) {
  Pair p;
  p.rules.fields = {"data", "type"};
  p.rules.status = StatusWrite::none;
  p.u = Pair::up(R"("data":{"k":"v"},"type":"Opaque","spec":1)");
  const Action a = p.act();
  EXPECT_EQ(a.object.at("data"), parsed(R"({"k":"v"})"));
  EXPECT_EQ(a.object.at("type"), "Opaque");
  EXPECT_FALSE(a.object.contains("spec"));
}

// --- comparing before writing (B6)

TEST(DecideDown, B6WritesNothingWhenNothingDiffers) {
  Pair p;
  p.u = Pair::up(R"("spec":{"x":1,"y":2},"status":{"s":1})");
  p.d = Pair::down(R"("spec":{"y":2,"x":1},"status":{"s":1})");
  EXPECT_EQ(p.does(), Does::nothing);
}

TEST(DecideDown, B6WritesNothingForWhatTheServerAddsByItself) {
  Pair p;
  p.u = Pair::up(R"("spec":{"x":1})");
  p.d = Pair::down(R"("spec":{"x":1,"default":true})");
  const Action a = p.act();
  ASSERT_EQ(a.does, Does::update) << "once, because it may be an edit";
  p.written.wanted = a.hash;
  p.written.became = hash_of(content_of(p.rules, *p.d));
  EXPECT_EQ(p.does(), Does::nothing) << "the server has been told and made this of it";
  p.d = Pair::down(R"("spec":{"x":1,"default":false})");
  EXPECT_EQ(p.does(), Does::update) << "somebody has edited it";
}

TEST(DecideDown, ASpecThatIsEditedDownstreamIsRepaired) {
  Pair p;
  p.u = Pair::up(R"("spec":1)");
  p.d = Pair::down(R"("spec":9)");
  EXPECT_EQ(p.does(), Does::update);
}

TEST(DecideDown, LabelsAndAnnotationsThatAreEditedDownstreamAreRepaired) {
  Pair p;
  p.u = Pair::up(R"("spec":1)");
  p.d = Pair::down(R"("spec":1)", R"("labels":{"new":"1"})");
  EXPECT_EQ(p.does(), Does::update);
  p.d = Pair::down(R"("spec":1)");
  p.d->at("metadata").as_object()["annotations"].as_object()["new"] = "1";
  EXPECT_EQ(p.does(), Does::update);
}

TEST(DecideDown, WhoKeepsChangingItIsNotAnsweredAtOnce) {
  Pair p;
  p.u = Pair::up(R"("spec":1)");
  p.d = Pair::down(R"("spec":9,"status":"s")");
  p.written.wanted = p.act().hash;
  EXPECT_EQ(p.does(), Does::update);
  p.written.rests = true;
  EXPECT_EQ(p.does(), Does::status) << "the status goes on";
  p.d->erase("status");
  EXPECT_EQ(p.does(), Does::wait);
  p.d.reset();
  EXPECT_EQ(p.does(), Does::wait) << "or deleting it";
  p.u = Pair::up(R"("spec":2)");
  EXPECT_EQ(p.does(), Does::create) << "a change upstream does not wait";
}

// --- deletes wait for what is not known (B1)

TEST(DecideDown, B1NothingIsDeletedBeforeBothSidesAreComplete) {
  Pair p;
  p.d = Pair::down(R"("spec":1)");
  p.upstream_complete = false;
  EXPECT_EQ(p.does(), Does::wait);
  p.upstream_complete = true;
  p.downstream_complete = false;
  EXPECT_EQ(p.does(), Does::wait);
  p.u = Pair::up(R"("spec":1)", leaving);
  EXPECT_EQ(p.does(), Does::wait);
}

TEST(DecideDown, NothingIsCreatedBeforeDownstreamIsComplete) {
  Pair p;
  p.u = Pair::up(R"("spec":1)");
  p.downstream_complete = false;
  EXPECT_EQ(p.does(), Does::wait);
}

TEST(DecideDown, WhatIsThereIsUpdatedWhileUpstreamIsAway) {
  Pair p;
  p.upstream_complete = false;
  p.u = Pair::up(R"("spec":2)");
  p.d = Pair::down(R"("spec":1)");
  EXPECT_EQ(p.does(), Does::update);
  p.d.reset();
  EXPECT_EQ(p.does(), Does::create);
}

// --- deletion, orphans and recreation

TEST(DecideDown, AnOrphanIsDeletedUnlessItIsBeingDeleted) {
  Pair p;
  p.d = object(R"("uid":"d1","resourceVersion":"1")");
  EXPECT_EQ(p.does(), Does::remove) << "nobody has made it of anything";
  p.d = object(R"("uid":"d1","resourceVersion":"1",)" + leaving);
  EXPECT_EQ(p.does(), Does::wait);
}

TEST(DecideDown, ADeleteIsSentOnce) {
  Pair p;
  p.d = Pair::down(R"("spec":1)");
  p.written.removed = "d1";
  EXPECT_EQ(p.does(), Does::wait);
  p.d = object(R"("uid":"d2","resourceVersion":"1")");
  EXPECT_EQ(p.does(), Does::remove) << "this is another object";
}

TEST(DecideDown, ACreateIsSentOnce) {
  Pair p;
  p.u = Pair::up(R"("spec":1)");
  p.written.created = "d1";
  EXPECT_EQ(p.does(), Does::wait);
}

TEST(DecideDown, WhatIsDeletedDownstreamIsMadeAgainWithTheStatus) {
  Pair p;
  p.u = Pair::up(R"("spec":1,"status":{"s":1})");
  const Action a = p.act();
  EXPECT_EQ(a.does, Does::create);
  EXPECT_EQ(a.object.at("status"), parsed(R"({"s":1})"));
}

TEST(DecideDown, WhatIsMadeAnewUpstreamIsMadeAnewDownstream) {
  Pair p;
  p.u = Pair::up(R"("spec":1)");
  p.d = Pair::down(R"("spec":1,"status":{"of":"before"})", "", "u0");
  EXPECT_EQ(p.does(), Does::remove);
  p.upstream_complete = false;
  EXPECT_EQ(p.does(), Does::wait) << "it is a delete like others";
}

TEST(DecideDown, WithoutMatchUidWhatIsMadeAnewUpstreamIsAnUpdate) {
  Pair p;
  p.rules.match_uid = false;
  p.u = Pair::up(R"("spec":2)");
  p.d = Pair::down(R"("spec":1)", "", "u0");
  EXPECT_EQ(p.does(), Does::update);
}

TEST(DecideDown, WhatAFinalizerHoldsGetsNoSpecOfAnObjectMadeAnew) {
  Pair p;
  p.u = Pair::up(R"("spec":2)");
  p.d = Pair::down(R"("spec":1,"status":{"of":"before"})", leaving, "u0");
  EXPECT_EQ(p.does(), Does::wait);
  p.rules.match_uid = false;
  EXPECT_EQ(p.does(), Does::update) << "as cr-syncer does";
}

TEST(DecideDown, AnObjectThatCrSyncerMadeIsTakenOver) {
  Pair p;
  p.u = Pair::up(R"("spec":1)");
  p.d = object(R"("uid":"d1","resourceVersion":"1")", R"("spec":1,"status":{"s":1})");
  const Action a = p.act();
  ASSERT_EQ(a.does, Does::update);
  EXPECT_EQ(made_of(a.object), "u1");
}

// --- what the selector hides, and what was not made here (B3)

TEST(DecideDown, B3ALabelThatWasChangedDownstreamIsPutBack) {
  Pair p;
  p.u = Pair::up(R"("spec":1)", R"("labels":{"robot":"r1"})");
  p.d = Pair::down(R"("spec":1,"status":{"s":1})", R"("labels":{"robot":"other"})");
  p.hidden = true;
  const Action a = p.act();
  ASSERT_EQ(a.does, Does::update);
  EXPECT_EQ(a.object.at("metadata").at("labels"), parsed(R"({"robot":"r1"})"));
}

TEST(DecideDown, B3AnObjectOfOthersThatHasTheNameIsSaidAndLeftAlone) {
  Pair p;
  p.u = Pair::up(R"("spec":1)");
  p.d = object(R"("uid":"d1","resourceVersion":"1")", R"("spec":9)");
  p.hidden = true;
  EXPECT_EQ(p.does(), Does::stuck);
  p.u.reset();
  EXPECT_EQ(p.does(), Does::nothing) << "made downstream without the label: ignored";
}

TEST(DecideDown, WithoutAdoptionWhatWasNotMadeHereIsLeftAlone) {
  Pair p;
  p.rules.adopt = false;
  p.d = object(R"("uid":"d1","resourceVersion":"1")", R"("spec":9)");
  EXPECT_EQ(p.does(), Does::nothing);
  p.u = Pair::up(R"("spec":1)");
  EXPECT_EQ(p.does(), Does::stuck);
  p.u.reset();
  p.d = Pair::down(R"("spec":9)");
  EXPECT_EQ(p.does(), Does::remove) << "this one was";
}

// --- what downstream refuses

// --- several clusters, whose objects are in one

TEST(DecideDown, AnObjectNamesTheClusterThatItIsOfWhereSeveralHaveSome) {
  Pair p;
  p.rules.swapped = true;
  p.rules.origin = "north";
  p.u = Pair::up(R"("spec":1)", R"("annotations":{"davit.dev/upstream-cluster":"of-a-chain"})");
  const auto noted = [&] {
    const Action a = p.act();
    const auto* found = a.object.at("metadata")
                            .at("annotations")
                            .as_object()
                            .if_contains("davit.dev/upstream-cluster");
    return found == nullptr ? "" : std::string(found->as_string());
  };
  EXPECT_EQ(noted(), "north");
  p.rules.origin.clear();
  EXPECT_EQ(noted(), "") << "that of another object is not passed on";
}

TEST(DecideDown, WhatAnotherClusterHasMadeIsLeftAlone) {
  for (const bool adopt : {true, false}) {
    Pair p;
    p.rules.swapped = true;
    p.rules.adopt = adopt;
    p.rules.origin = "north";
    p.d = Pair::down(R"("spec":1)", "", "u9", "south");
    EXPECT_EQ(p.act().standing, Standing::not_ours) << "there is no object of this name here";
    EXPECT_EQ(p.does(), Does::nothing);
    p.rules.origin.clear();
    EXPECT_EQ(p.does(), Does::nothing) << "nobody knows which cluster this is";
    p.u = Pair::up(R"("spec":2)");
    EXPECT_EQ(p.does(), Does::stuck);
    p.rules.origin = "north";
    EXPECT_EQ(p.does(), Does::stuck) << "its name is taken";
    EXPECT_EQ(p.act().why, "its name is taken downstream by an object of another cluster");
    p.rules.origin = "south";
    EXPECT_EQ(p.does(), Does::remove) << "it is of a former object of this cluster";
  }
}

TEST(DecideDown, AnObjectOfWhichNobodyKnowsTheClusterIsNotTakenFromWhoeverHasIt) {
  Pair p;
  p.rules.adopt = false;
  p.rules.origin = "north";
  p.u = Pair::up(R"("spec":1)");
  p.d = Pair::down(R"("spec":1)", "", "u9");
  EXPECT_EQ(p.does(), Does::remove) << "the selector shows it: it was made anew upstream";
  p.hidden = true;
  EXPECT_EQ(p.does(), Does::stuck) << "with another label it may be another cluster's";
}

TEST(DecideDown, WhatWasRefusedIsNotSentAgainUntilItDiffers) {
  Pair p;
  p.u = Pair::up(R"("spec":"bad")");
  p.written.refused = p.act().hash;
  p.written.refusal = "422: spec";
  EXPECT_EQ(p.does(), Does::stuck);
  EXPECT_EQ(p.act().why, "422: spec");
  p.u = Pair::up(R"("spec":"good")");
  EXPECT_EQ(p.does(), Does::create);
}

}  // namespace
}  // namespace davit::federation::test
