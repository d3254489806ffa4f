// What counts as an edit of a ReplicaSet's template: by the hash that is written next.
#include "edited.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace davit::deployment::test {
namespace {

namespace json = boost::json;

class EditedTemplate : public ::testing::Test {
 protected:
  EditedTemplate() {
    ours_ = json::parse(R"({
      "metadata":{"labels":{"app":"web"}},
      "spec":{"containers":[{"name":"main","image":"web:1","command":["run","fast"],
              "env":[{"name":"A","value":"1"},{"name":"EMPTY","value":""}]}]}})")
                .as_object();
    there_ = ours_;
    there_["spec"].as_object()["dnsPolicy"] = "ClusterFirst";  // a default
    container()["env"].as_array()[1].as_object().erase("value");
    state_.hash = "h";
    state_.pod_template = &there_;
  }
  json::object& container() {
    return there_["spec"].as_object()["containers"].as_array()[0].as_object();
  }
  void by_somebody(const std::string& time) { state_.template_owners = "somebody " + time; }
  std::string next() const { return hash_after_edits("h", ours_, state_); }
  bool is_edit() const { return next().starts_with("h-"); }
  bool is_edit_of_what_is_kept() const { return next().starts_with("h~"); }

  json::object ours_, there_;
  ObservedController state_;
};

TEST_F(EditedTemplate, IsNotWhatWasWritten) {
  EXPECT_EQ(next(), "h");
  by_somebody("today");
  EXPECT_EQ(next(), "h") << "who only owns something has changed nothing";
}

TEST_F(EditedTemplate, IsAnotherValueThatSomebodySet) {
  container()["image"] = "web:2";
  EXPECT_EQ(next(), "h") << "nobody else did: admission in our name";
  by_somebody("today");
  EXPECT_TRUE(is_edit_of_what_is_kept());
  container()["env"].as_array()[0].as_object()["value"] = "2";
  EXPECT_TRUE(is_edit()) << "more than can be seen in a pod";
}

TEST_F(EditedTemplate, IsALabelAnotherCommandAndAnotherPlaceOfAWord) {
  by_somebody("today");
  there_["metadata"].as_object()["labels"].as_object()["app"] = "shop";
  EXPECT_TRUE(is_edit());
  there_["metadata"] = ours_["metadata"];
  EXPECT_EQ(next(), "h");
  container()["command"] = json::array{"run", "fast", "now"};
  EXPECT_TRUE(is_edit_of_what_is_kept());
  container()["command"] = json::array{"fast", "run"};
  EXPECT_TRUE(is_edit_of_what_is_kept());
}

TEST_F(EditedTemplate, IsWhatSomebodyTookAway) {
  container().erase("command");
  EXPECT_TRUE(is_edit_of_what_is_kept()) << "nobody owns what is not there";
  container()["command"] = json::array{"run", "fast"};
  auto& env = container()["env"].as_array();
  env.erase(env.begin());
  EXPECT_TRUE(is_edit());
}

TEST_F(EditedTemplate, IsNotWhatSomebodyAdded) {
  by_somebody("today");
  there_["metadata"].as_object()["annotations"] = {{"restarted", "today"}};
  auto& env = container()["env"].as_array();
  env.insert(env.begin(), json::object{{"name", "EXTRA"}, {"value", "1"}});
  auto& containers = there_["spec"].as_object()["containers"].as_array();
  containers.insert(containers.begin(), json::object{{"name", "proxy"}, {"image", "proxy:1"}});
  EXPECT_EQ(next(), "h");
}

TEST_F(EditedTemplate, IsRememberedUntilTheHashChanges) {
  by_somebody("today");
  container()["image"] = "web:2";
  const std::string mended = next();
  there_ = ours_;
  state_.template_owners.clear();
  state_.hash = mended;
  EXPECT_EQ(next(), mended) << "put right";
}

TEST_F(EditedTemplate, IsRememberedWhenTheRecordGoesToAnotherTemplateAndBack) {
  by_somebody("today");
  container()["image"] = "web:2";
  const std::string undone = next();
  const auto next_after = [this](const std::string& before, const std::string& hash) {
    state_.hash = before;
    return hash_after_edits(hash, ours_, state_);
  };
  const std::string other = next_after("h", "other");
  EXPECT_TRUE(other.starts_with("other-")) << "before anybody has undone the edit";
  there_ = ours_;
  state_.template_owners.clear();
  const std::string back = next_after(other, "h");
  EXPECT_EQ("other" + back.substr(1), other);
  EXPECT_EQ(next_after(back, "h"), back);
  EXPECT_EQ(next_after(back, "third"), "third" + back.substr(1)) << "it does not grow";
  EXPECT_TRUE(next_after(undone, "other").starts_with("other-")) << "after somebody has undone it";
  EXPECT_EQ(next_after("h", "other"), "other") << "nobody edited it";
}

TEST_F(EditedTemplate, CountsEachTime) {
  by_somebody("today");
  container()["image"] = "web:2";
  state_.hash = next();
  EXPECT_EQ(next(), state_.hash) << "seen twice, it is one edit";
  const std::string first = state_.hash;
  by_somebody("tomorrow");
  EXPECT_TRUE(next().starts_with(first + "~")) << "what was made before the first edit may count";
}

TEST_F(EditedTemplate, NamesOnlySoManyEdits) {
  container()["image"] = "web:2";
  for (int day = 0; day < 8; ++day) {
    by_somebody(std::to_string(day));
    ASSERT_TRUE(is_edit_of_what_is_kept()) << next();
    state_.hash = next();
  }
  by_somebody("one more");
  EXPECT_TRUE(is_edit()) << next();
}

TEST_F(EditedTemplate, IsNotATemplateOfAnEarlierRecord) {
  by_somebody("today");
  container()["image"] = "web:0";
  state_.hash = "earlier";
  EXPECT_TRUE(next().starts_with("h-")) << next();
  state_.template_owners.clear();
  EXPECT_EQ(next(), "h") << "nobody else owns any of it";
}

TEST_F(EditedTemplate, IsTakenOverWhenItHasNoHashAndTheSameValues) {
  state_.hash = "";
  EXPECT_EQ(next(), "~h");
  container().erase("command");
  EXPECT_EQ(next(), "~h") << "what its maker has left out";
  state_.hash = "~h";
  container()["command"] = json::array{"run", "fast"};
  EXPECT_EQ(next(), "~h") << "it stays";
  EXPECT_EQ(hash_after_edits("other", ours_, state_), "other") << "until the template changes";
  by_somebody("today");
  container()["image"] = "web:2";
  EXPECT_TRUE(next().starts_with("~h~"));
  state_.hash = "";
  EXPECT_EQ(next(), "h");
}

}  // namespace
}  // namespace davit::deployment::test
