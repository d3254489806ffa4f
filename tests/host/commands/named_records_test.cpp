#include "commands/named_records.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

// "KIND:ID " for each; or the error.
std::string named(const std::string& first, const std::vector<std::string>& more = {}) {
  std::string out;
  try {
    for (const RecordName& name : RecordWords{first, more}.names())
      out += name.kind + ":" + name.id + " ";
  } catch (const UsageError& error) {
    return error.what();
  }
  return out;
}

TEST(NamedRecords, AKindStandsForAllOrForTheIdsAfterIt) {
  EXPECT_EQ(named(""), "");
  EXPECT_EQ(named("d"), "d: ");
  EXPECT_EQ(named("d", {"b", "a", "b"}), "d:b d:a ");
  EXPECT_EQ(named("d", {"shop/a"}), "d:shop/a ") << "the name of an object in a namespace";
}

TEST(NamedRecords, EachWordMayHaveItsKind) {
  EXPECT_EQ(named("d/a"), "d:a ");
  EXPECT_EQ(named("d/a", {"e/a", "d/a", "e/x/y"}), "d:a e:a e:x/y ");
}

TEST(NamedRecords, WhatHasNoKindOrNoIdIsRefused) {
  EXPECT_EQ(named("d/a", {"b"}), "\"b\" has no kind: KIND ID..., or KIND/ID for each");
  EXPECT_EQ(named("d/"), "\"d/\" must be KIND/ID, with both");
  EXPECT_EQ(named("/a"), "\"/a\" must be KIND/ID, with both");
  EXPECT_EQ(named("d", {"a", ""}), "an id is empty");
  EXPECT_EQ(named("", {"a"}), "the kind is empty");
}

TEST(NamedRecords, KnowWhetherTheyAreOfOneKind) {
  EXPECT_EQ(common_kind({{"d", "a"}, {"d", "b"}}), "d");
  EXPECT_EQ(common_kind({{"d", "a"}, {"e", "a"}}), "");
  EXPECT_EQ(common_kind({}), "");
  EXPECT_FALSE(have_ids({{"d", ""}}));
  EXPECT_TRUE(have_ids({{"d", "a"}}));
}

}  // namespace
}  // namespace davit::host
