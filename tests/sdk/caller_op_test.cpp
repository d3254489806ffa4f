#include <davit/operation.hpp>

#include <gtest/gtest.h>

namespace davit {
namespace {

TEST(CallerOp, OfNobodyNeverEnds) {
  const CallerOp op;
  EXPECT_FALSE(static_cast<const Op&>(op).cancelled());
  EXPECT_EQ(static_cast<const Op&>(op).deadline_ns(), INT64_MAX);
}

TEST(CallerOp, KeepsTheOperationThatItIsGiven) {
  std::optional<Operation> caller(std::in_place, 5, "trace of the call");
  CallerOp kept(*caller);
  const CallerOp copy = kept;
  const Operation same = *caller;
  caller.reset();
  kept = CallerOp();  // now only the copy and `same` keep it
  const Op& op = copy;
  EXPECT_EQ(op.deadline_ns(), 5);
  EXPECT_EQ(op.trace(), "trace of the call");
  EXPECT_FALSE(op.cancelled());
  same.cancel();
  EXPECT_TRUE(op.cancelled());
}

TEST(CallerOp, KeepsAnOperationThatNobodyElseKeeps) {
  const CallerOp op = Operation(7, "a trace that is too long for a short string");
  EXPECT_EQ(static_cast<const Op&>(op).trace(), "a trace that is too long for a short string");
}

TEST(CallerOp, BorrowsTheOpOfACall) {
  const Operation caller;
  const CallerOp op = caller.op();
  EXPECT_EQ(op.abi(), caller.abi());
  caller.cancel();
  EXPECT_TRUE(static_cast<const Op&>(op).cancelled());
}

}  // namespace
}  // namespace davit
