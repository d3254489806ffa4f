// A kind that cannot answer, now or ever: what becomes of the documents of an apply.
#include <davit/v1/operator.pb.h>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::desired {
namespace {

class KindErrors : public ::testing::Test {
 protected:
  KindErrors() : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE) { rig_.up(); }

  static v1::Document document(const std::string& id) {
    v1::Document d;
    d.set_kind("widget");
    d.set_region("eu");
    d.set_id(id);
    d.set_spec_json(R"({"id":")" + id + R"(","ns":"shop","name":"name-)" + id + "\"}");
    return d;
  }
  v1::ApplyResponse apply(const std::vector<v1::Document>& documents) {
    v1::ApplyRequest r;
    for (const auto& d : documents) *r.add_documents() = d;
    return rig_.ask<v1::ApplyResponse>("OperatorService/Apply", r, "alice");
  }
  // "a:created@1"
  static std::string show(const v1::ApplyResponse& r) {
    std::string out;
    for (const auto& o : r.outcomes()) {
      out += (out.empty() ? "" : " ") + o.id() + ":" + o.outcome() +
             (o.version() == 0 ? "" : "@" + std::to_string(o.version()));
    }
    return out;
  }
  testing::ServerRig rig_;
};

// "Try again later" says nothing about the document, and is not an answer about its fields.
TEST_F(KindErrors, AKindThatCannotAnswerNowIsUnavailable) {
  testing::Widget::busy = true;
  const auto r = apply({document("slow"), document("b")});
  testing::Widget::busy = false;
  EXPECT_EQ(show(r), "slow:refused b:created@1");
  EXPECT_EQ(r.outcomes(0).code(), DAVIT_UNAVAILABLE);
  EXPECT_EQ(r.outcomes(0).message(), "kind widget: its process is starting");
  EXPECT_EQ(r.outcomes(0).field(), "");
  EXPECT_EQ(show(apply({document("slow")})), "slow:created@2");
}

TEST_F(KindErrors, AStateOfNoKnownClassIsRefusedAndDeletesNothing) {
  apply({document("a")});
  for (const char* state : {"odd", "broken"}) {
    v1::Document d = document("a");
    d.set_state(state);
    EXPECT_EQ(show(apply({d})), "a:refused") << state;
    EXPECT_TRUE(rig_.storage
                    .get({{"widget", "eu", "a"}, {}, {}},
                         [](const davit_record& r) {
                           EXPECT_EQ(r.flags & DAVIT_RECORD_LIVE, DAVIT_RECORD_LIVE);
                           return true;
                         })
                    .ok());
  }
}

}  // namespace
}  // namespace davit::desired
