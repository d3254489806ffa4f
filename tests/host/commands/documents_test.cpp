#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "commands/documents.hpp"

namespace davit::host {
namespace {

Documents read(const std::string& text, bool keys_only = false) {
  Documents out;
  add_documents(text, "deploy.yaml", keys_only, out);
  return out;
}

TEST(Documents, FieldsGoWhereTheyBelong) {
  auto d = read(
      "kind: deployment\nregion: eu\nid: 12\nstate: archived\nannotations: {davit.dev/pause: true, "
      "n: 5}\n"
      "spec: {image: i, replicas: 2}\n");
  ASSERT_TRUE(d.faults.empty()) << d.faults[0];
  const auto& doc = d.good[0].document;
  EXPECT_EQ(doc.kind(), "deployment");
  EXPECT_EQ(doc.region(), "eu");
  EXPECT_EQ(doc.id(), "12");
  EXPECT_EQ(doc.state(), "archived");
  EXPECT_EQ(doc.annotations().at("davit.dev/pause"), "true");
  EXPECT_EQ(doc.annotations().at("n"), "5");
  EXPECT_EQ(doc.spec_json(), R"({"image":"i","replicas":2})");
}

TEST(Documents, AVersionIsANumber) {
  const auto d = read(
      "kind: d\nregion: eu\nid: a\nversion: 12\nincarnation: 18446744073709551615\n"
      "spec: {}\n");
  ASSERT_TRUE(d.faults.empty()) << d.faults[0];
  EXPECT_EQ(d.good[0].document.version(), 12u);
  EXPECT_EQ(d.good[0].document.incarnation(), UINT64_MAX);
  EXPECT_FALSE(read("kind: d\nregion: eu\nspec: {}\n").good[0].document.has_version());
  const auto bad = read("kind: d\nregion: eu\nversion: -1\nspec: {}\n");
  ASSERT_EQ(bad.faults.size(), 1u);
  EXPECT_EQ(bad.faults[0],
            "deploy.yaml:3: version: must be a number, as `get -o yaml --with-version` prints it");
  // What get prints is read back.
  const auto again = read(boost::json::serialize(to_json(d.good[0].document)));
  EXPECT_EQ(again.good[0].document.SerializeAsString(), d.good[0].document.SerializeAsString());
}

TEST(Documents, OfARecordThatIsNamedTwiceTheFirstIsLeft) {
  auto d = read(
      "kind: d\nregion: eu\nid: a\nspec: {n: 1}\n---\nkind: d\nregion: eu\nid: b\n"
      "spec: {}\n---\nkind: d\nregion: eu\nid: a\nspec: {n: 2}\n");
  refuse_twins(d);
  ASSERT_EQ(d.good.size(), 2u);
  EXPECT_EQ(d.good[0].document.spec_json(), R"({"n":1})");
  ASSERT_EQ(d.faults.size(), 1u);
  EXPECT_EQ(d.faults[0], "deploy.yaml:13: id: is named twice: d/a");
}

TEST(Documents, OneThatNoServerTakesIsNamedByItsLine) {
  const auto d = read("kind: d\nregion: eu\nspec: {x: " + std::string(4 << 20, 'x') + "}\n");
  ASSERT_EQ(d.faults.size(), 1u);
  EXPECT_EQ(d.faults[0], "deploy.yaml:3: spec: is larger than 3 MiB, and no server takes more");
}

TEST(Documents, FaultsNameFileLineAndField) {
  struct Row {
    const char* text;
    const char* fault;
  };
  const Row rows[] = {
      {"kind: d\nregoin: eu\nspec: {}\n",
       "deploy.yaml:2: regoin: unknown field (did you mean \"region\"?)"},
      {"kind: d\nspec: {}\n", "deploy.yaml:1: region: is required"},
      {"region: eu\nspec: {}\n", "deploy.yaml:1: kind: is required"},
      {"kind: d\nregion: eu\n", "deploy.yaml:1: spec: is required"},
      {"kind: d\nregion: eu\nspec: text\n", "deploy.yaml:3: spec: must be an object"},
      {"kind: [d]\nregion: eu\nspec: {}\n", "deploy.yaml:1: kind: must be a string"},
      {"- just\n- text\n",
       "deploy.yaml:1: a document must be an object with kind, region and spec"},
  };
  for (const auto& row : rows) {
    auto d = read(row.text);
    ASSERT_FALSE(d.faults.empty()) << row.text;
    EXPECT_EQ(d.faults[0], row.fault);
  }
}

TEST(Documents, ABadDocumentLeavesItsNeighbours) {
  auto d =
      read("kind: a\nregion: eu\nspec: {}\n---\nkind: b\n---\nkind: c\nregion: eu\nspec: {}\n");
  EXPECT_EQ(d.good.size(), 2u);
  ASSERT_EQ(d.faults.size(), 1u);
  EXPECT_EQ(d.faults[0], "deploy.yaml:5: region: is required");
}

TEST(Documents, AListIsTakenApartAndKeepsItsLines) {
  auto d = read(
      "[{\"kind\": \"a\", \"region\": \"eu\", \"spec\": {}},\n {\"kind\": \"b\", \"region\": "
      "\"eu\",\n"
      "  \"spec\": {\"x\": 1}}]");
  ASSERT_EQ(d.good.size(), 2u);
  EXPECT_EQ(d.good[1].fault("spec.x", "is odd"), "deploy.yaml:3: spec.x: is odd");
}

TEST(Documents, ServerFaultsFindTheirLine) {
  auto d = read("kind: a\nregion: eu\nspec:\n  one: 1\n  two: 2\n");
  EXPECT_EQ(d.good[0].fault("spec.two", "is odd"), "deploy.yaml:5: spec.two: is odd");
  EXPECT_EQ(d.good[0].fault("spec.three", "is required"), "deploy.yaml:3: spec.three: is required");
  EXPECT_EQ(d.good[0].fault("", "storage is full"), "deploy.yaml:1: storage is full");
}

TEST(Documents, KeysAloneAreEnoughToDelete) {
  EXPECT_EQ(read("kind: a\nregion: eu\nid: x\n", true).good.size(), 1u);
  EXPECT_EQ(read("kind: a\nregion: eu\n", true).faults[0], "deploy.yaml:1: id: is required");
}

}  // namespace
}  // namespace davit::host
