#include "accepted_statuses.hpp"

#include <gtest/gtest.h>

namespace davit::reporter {
namespace {

constexpr size_t no_limit = 1 << 20;

Status status_of(const std::string& id, Epoch epoch, uint64_t sequence, bool gone = false) {
  Status s;
  s.key = {"deployment", "eu", id};
  s.epoch = epoch;
  s.sequence = sequence;
  s.gone = gone;
  return s;
}

void send(AcceptedStatuses& statuses, const std::vector<Status>& batch) {
  statuses.sending(batch);
  statuses.ended(true);
}

std::string listed(const std::vector<Status>& all) {
  std::string out;
  for (const auto& s : all) out += s.key.id + std::to_string(s.sequence) + " ";
  return out;
}

std::string below(const AcceptedStatuses& statuses, Epoch epoch, size_t most = 100) {
  std::vector<Status> out;
  statuses.add_below(epoch, most, no_limit, out);
  return listed(out);
}

TEST(AcceptedStatuses, AreTheLatestOfEachKey) {
  AcceptedStatuses statuses(10, 10);
  send(statuses, {status_of("a", 7, 1), status_of("b", 7, 2)});
  send(statuses, {status_of("a", 7, 3)});
  EXPECT_EQ(statuses.size(), 2u);
  EXPECT_EQ(below(statuses, 8), "b2 a3 ");
  EXPECT_FALSE(statuses.has_below(7)) << "all were sent with our epoch";
}

TEST(AcceptedStatuses, DoNotHoldWhatThePeerDidNotTake) {
  AcceptedStatuses statuses(10, 10);
  statuses.sending({status_of("a", 7, 1)});
  statuses.ended(false);
  EXPECT_EQ(statuses.size(), 0u);
}

TEST(AcceptedStatuses, WhatIsSentAgainHasTheNewEpoch) {
  AcceptedStatuses statuses(10, 10);
  send(statuses, {status_of("a", 7, 1), status_of("b", 7, 2)});
  EXPECT_EQ(below(statuses, 9, 1), "a1 ");
  send(statuses, {status_of("a", 9, 1)});
  EXPECT_EQ(below(statuses, 9, 1), "b2 ");
  send(statuses, {status_of("b", 9, 2)});
  EXPECT_FALSE(statuses.has_below(9));
}

TEST(AcceptedStatuses, ABatchGetsNoKeyTwice) {
  AcceptedStatuses statuses(10, 10);
  send(statuses, {status_of("a", 7, 1), status_of("b", 7, 2)});
  std::vector<Status> batch{status_of("a", 0, 3)};
  statuses.add_below(9, 100, no_limit, batch);
  EXPECT_EQ(listed(batch), "a3 b2 ");
}

TEST(AcceptedStatuses, AreUnconfirmedUntilALaterProgressCallIsAnswered) {
  AcceptedStatuses statuses(10, 10);
  send(statuses, {status_of("a", 7, 1)});
  statuses.asking();
  send(statuses, {status_of("b", 7, 2)});
  statuses.confirmed();
  statuses.sending({status_of("c", 7, 3)});
  EXPECT_EQ(listed(statuses.take_unconfirmed()), "b2 c3 ");
  statuses.ended(false);
  EXPECT_EQ(listed(statuses.take_unconfirmed()), "");
}

TEST(AcceptedStatuses, ForgetTheOldestWhenThereAreTooMany) {
  AcceptedStatuses statuses(2, 1);
  send(statuses, {status_of("a", 7, 1), status_of("b", 7, 2), status_of("c", 7, 3)});
  send(statuses, {status_of("x", 7, 4, true), status_of("y", 7, 5, true)});
  EXPECT_EQ(below(statuses, 8), "b2 c3 y5 ") << "who is gone takes no place of who is there";
  send(statuses, {status_of("b", 7, 6, true)});
  EXPECT_EQ(below(statuses, 8), "c3 b6 ");
}

}  // namespace
}  // namespace davit::reporter
