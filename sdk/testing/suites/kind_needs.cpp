// The needs of a kind beyond its description (abi/kind_needs.h). A kind without this table passes
// every test here.
#include <thread>

#include <davit/kind_needs.hpp>

#include "kind.hpp"

namespace davit::conformance {
namespace {

// A need of the table, with the kind that it names.
struct Said {
  std::string kind;
  kind::Need need;

  std::string text() const {
    std::string out = kind + ": " + need.group + "/" + need.version + " " + need.resource;
    if (!need.name.empty()) out += " \"" + need.name + "\"";
    for (const auto& verb : need.verbs) out += ' ' + verb;
    return out + " (" + need.setting + ")";
  }
};

class KindNeeds : public KindTest {
 protected:
  std::vector<Said> needs() {
    std::vector<Said> out;
    const auto* table = fresh_.instance().role<davit_kind_needs>(DAVIT_KIND_NEEDS);
    if (table == nullptr) return out;
    table->needs(
        fresh_.instance().get(),
        [](void* ctx, const davit_kind_need* n) {
          static_cast<std::vector<Said>*>(ctx)->push_back({text(n->kind), kind::need_of(*n)});
        },
        &out);
    return out;
  }
  std::string listed() {
    std::string out;
    for (const Said& said : needs()) out += said.text() + "\n";
    return out;
  }
};

TEST_F(KindNeeds, AreOfThisKindAndNameTheirResource) {
  for (const Said& said : needs()) {
    SCOPED_TRACE(said.text());
    EXPECT_EQ(said.kind, description().kind);
    EXPECT_FALSE(said.need.version.empty());
    EXPECT_FALSE(said.need.resource.empty());
  }
}

TEST_F(KindNeeds, AskForSomething) {
  for (const Said& said : needs()) {
    SCOPED_TRACE(said.text());
    const auto& need = said.need;
    EXPECT_TRUE(!need.name.empty() || !need.verbs.empty() || !need.setting.empty())
        << "neither an object, nor verbs, nor the setting that does without the resource";
    for (const auto& verb : need.verbs) EXPECT_FALSE(verb.empty());
  }
}

// Verbs and settings are about a resource of the description. An object that must exist need not
// be of such a resource.
TEST_F(KindNeeds, WithoutANameAreOfADescribedResource) {
  for (const Said& said : needs()) {
    if (!said.need.name.empty()) continue;
    EXPECT_NE(described(said.need.group, said.need.resource), nullptr) << said.text();
  }
}

// An operator copies the setting into a file.
TEST_F(KindNeeds, NameASettingAsItIsWritten) {
  for (const Said& said : needs()) {
    const std::string& setting = said.need.setting;
    if (setting.empty()) continue;
    SCOPED_TRACE(said.text());
    const size_t at = setting.find(" = ");
    ASSERT_NE(at, std::string::npos) << "not `key = value`";
    EXPECT_GT(at, 0u);
    EXPECT_LT(at + 3, setting.size());
  }
}

TEST_F(KindNeeds, AreTheSameOnEveryThread) {
  const std::string first = listed();
  std::vector<std::string> answers(4);
  std::vector<std::thread> threads;
  for (auto& answer : answers) threads.emplace_back([&] { answer = listed(); });
  for (auto& thread : threads) thread.join();
  for (const auto& answer : answers) EXPECT_EQ(answer, first);
}

}  // namespace
}  // namespace davit::conformance
