// Where the slots of a kind may be called.
#include "assembly/role_proxy.hpp"

#include <gtest/gtest.h>

#include <set>

#include <davit/kind.hpp>

namespace davit::host {
namespace {

// Says which slots were entered.
struct SomeKind {
  kind::Described kept = [] {
    kind::Description d;
    d.kind = "some";
    return kind::Described(d);
  }();
  mutable std::string entered{};

  const kind::Described& described() const { return kept; }
  Result<Named> identify(std::string_view) const { return entered += "identify ", Named{}; }
  Result<> validate(std::string_view) const { return entered += "validate ", Result<>(); }
  Result<kind::Class> classify(std::string_view, std::string_view) const {
    return entered += "classify ", kind::Class::apply;
  }
  Result<std::string> reconcile(std::string_view) const {
    return entered += "reconcile ", std::string("{}");
  }
  Result<Named> attribute(std::string_view) const { return entered += "attribute ", Named{}; }
  Result<std::string> delete_message(const Named&) const {
    return entered += "delete_message ", std::string("{}");
  }
  Result<std::string> to_report(const Named&, const Status&) const {
    return entered += "to_report ", std::string("{}");
  }
  Result<std::pair<Named, Status>> from_report(std::string_view) const {
    return entered += "from_report ", std::pair<Named, Status>();
  }
  Result<std::string> apply_message(std::string_view) const {
    return entered += "apply_message ", std::string();
  }
};

class KindPlaceTest : public testing::Test {
 protected:
  // The errors of all slots, each once; "": none.
  std::set<std::string> call_all() const {
    std::set<std::string> out;
    const auto note = [&out](const auto& r) { out.insert(r.ok() ? "" : r.error().message); };
    note(client_.identify(""));
    note(client_.validate(""));
    note(client_.classify("", ""));
    note(client_.reconcile(""));
    note(client_.attribute(""));
    note(client_.delete_message({}));
    note(client_.to_report({}, {}));
    note(client_.from_report(""));
    note(client_.apply_message(""));
    return out;
  }

  SomeKind kind_;
  RoleProxy proxy_{*contract_of(DAVIT_KIND), party("widget"),
                   reinterpret_cast<davit_instance*>(&kind_), kind::Role::vtable<SomeKind>()};
  const kind::Client client_{proxy_.ref()};
};

TEST_F(KindPlaceTest, IsAPool) {
  const Step job(Step::Kind::job, party("streamer"), "a blocking task");
  EXPECT_EQ(call_all(), std::set<std::string>{""});
  EXPECT_EQ(kind_.entered,
            "identify validate classify reconcile attribute delete_message to_report from_report "
            "apply_message ");
}

TEST_F(KindPlaceTest, MayBeAThreadOfAPluginsOwn) {
  EXPECT_EQ(call_all(), std::set<std::string>{""});
}

TEST_F(KindPlaceTest, IsNoStrand) {
  const Step task(Step::Kind::task, party("watcher"), "a task");
  const Step call(Step::Kind::call, party("applier"), "change_sink.offer");
  EXPECT_EQ(call_all().size(), 9U) << "each is named";
  EXPECT_TRUE(call_all().contains(
      "a fault of plugin \"applier\": it calls kind.to_report of \"widget\", which may block, in "
      "change_sink.offer of \"applier\", called by \"watcher\": call it on a pool"));
  EXPECT_EQ(kind_.entered, "");
}

TEST_F(KindPlaceTest, IsNoVisitorAndNoStepOfALife) {
  {
    const Step job(Step::Kind::job, party("desired"), "a blocking task");
    const Step read(Step::Kind::blocking_call, party("main"), "storage.read");
    EXPECT_TRUE(call_all().contains(
        "a fault of plugin \"desired\": it calls kind.classify of \"widget\", which may block, in "
        "storage.read of \"main\", called by \"desired\": call it on a pool"));
  }
  const Step start(Step::Kind::life, party("watcher"), "start");
  EXPECT_TRUE(call_all().contains(
      "a fault of plugin \"watcher\": it calls kind.identify of \"widget\", which may block, in "
      "start of \"watcher\": call it on a pool"));
  EXPECT_EQ(kind_.entered, "");
}

TEST_F(KindPlaceTest, IsAnywhereForItsDescription) {
  const Step task(Step::Kind::task, party("watcher"), "a task");
  EXPECT_EQ(kind::Client(proxy_.ref()).kind(), "some");
}

// As a store's: what comes after the stop is refused, and stop waits for what is inside.
TEST_F(KindPlaceTest, IsClosedByStop) {
  EXPECT_TRUE(proxy_.close(std::chrono::steady_clock::now()));
  const Step job(Step::Kind::job, party("streamer"), "a blocking task");
  const auto r = client_.validate("");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, Code::unavailable);
  EXPECT_EQ(kind::Client(proxy_.ref()).kind(), "some") << "it can still be asked who it is";
}

}  // namespace
}  // namespace davit::host
