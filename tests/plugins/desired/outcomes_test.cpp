// In which incarnation an outcome's version is: `davit apply --wait` notices a restored store by
// it.
#include <davit/v1/operator.pb.h>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::desired {
namespace {

class OutcomesTest : public ::testing::Test {
 protected:
  OutcomesTest() : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE) { rig_.up(); }

  v1::Outcome apply(int size, bool dry_run = false) {
    v1::ApplyRequest request;
    auto* d = request.add_documents();
    d->set_kind("widget");
    d->set_region("eu");
    d->set_spec_json(R"({"id":"a","ns":"shop","name":"name-a","size":)" + std::to_string(size) +
                     "}");
    request.set_dry_run(dry_run);
    const auto answer = rig_.ask<v1::ApplyResponse>("OperatorService/Apply", request);
    return answer.outcomes_size() == 1 ? answer.outcomes(0) : v1::Outcome();
  }
  testing::ServerRig rig_;
};

TEST_F(OutcomesTest, NameTheIncarnationOfWhatWasCommittedAndOfWhatWasRead) {
  const Incarnation incarnation = rig_.storage.head()->head.incarnation;
  ASSERT_NE(incarnation, Incarnation(0));
  using O = v1::Outcome;
  for (const auto& [type, outcome] :
       {std::pair{O::TYPE_CREATED, "created"}, {O::TYPE_UNCHANGED, "unchanged"}}) {
    const v1::Outcome o = apply(1);
    EXPECT_EQ(o.type(), type);
    EXPECT_EQ(o.outcome(), outcome) << "clients of 1.0 read the word";
    EXPECT_EQ(o.version(), 1u);
    EXPECT_EQ(o.incarnation(), incarnation.value()) << outcome;
  }
  EXPECT_EQ(apply(2, true).incarnation(), incarnation.value()) << "of a dry run";
}

}  // namespace
}  // namespace davit::desired
