// What an item may mean, and that it means nothing of others.
#include "names.hpp"

#include <gtest/gtest.h>

namespace davit::secrets_transit {
namespace {

TransitSettings settings() {
  TransitSettings out;
  out.key = "davit-{keyring}";
  out.kv_folder = "environments/{keyring}";
  return out;
}

// "GROUP | TEXT", or "CODE: message"
std::string told(const secrets::Item& item, const TransitSettings& with = settings()) {
  const auto asked = asked_by(item, with, 1'000);
  if (asked.ok()) return asked->group + " | " + std::string(asked->text);
  return std::to_string(static_cast<int>(asked.error().code)) + ": " + asked.error().message;
}
secrets::Item decrypt(const std::string& keyring, const std::string& ciphertext) {
  return {DAVIT_SECRET_DECRYPT, keyring, ciphertext, {}, {}, {}};
}
secrets::Item read(const std::string& ref, const std::string& field,
                   const std::string& version = {}) {
  return {DAVIT_SECRET_READ, {}, {}, ref, field, version};
}

TEST(Names, ACiphertextIsOfTheKeyringsKey) {
  EXPECT_EQ(told(decrypt("env_1", "vault:v1:AB+/==")), "decrypt davit-env_1 | vault:v1:AB+/==");
  EXPECT_EQ(told(decrypt("env_1", "vault:v12:AB")), "decrypt davit-env_1 | vault:v12:AB");
}

TEST(Names, AReferenceIsBelowTheKeyringsFolder) {
  EXPECT_EQ(told(decrypt("e", "kv:web#password")), "read  environments/e/web | password");
  EXPECT_EQ(told(decrypt("e", "kv:a/b#p@7")), "read 7 environments/e/a/b | p");
  EXPECT_EQ(told(decrypt("e", "kv:web")), "read  environments/e/web | ");
  EXPECT_EQ(told(decrypt("e", "kv:web@7")), "read 7 environments/e/web | ");
  EXPECT_EQ(told(decrypt("e", "kv:web#a@b@3")), "read 3 environments/e/web | a@b");
}

TEST(Names, NothingLeadsOutOfTheFolder) {
  for (const char* reference :
       {"kv:../f/web#p", "kv:a/../../f/web#p", "kv:/web#p", "kv:a//b#p", "kv:./a#p", "kv:#p",
        "kv:a/#p", "kv:a\\b#p", "kv:a b#p", "kv:", "kv:a#p@", "kv:a#p@0", "kv:a#p@-1", "kv:a#p@x",
        "kv:a#p@1234567890"})
    EXPECT_TRUE(told(decrypt("e", reference)).starts_with("3: ")) << reference;
  for (const char* keyring : {"", "..", ".", "../x", "a/b", "a b", "-a", "a.", "{keyring}", "ä"})
    for (const char* ciphertext : {"vault:v1:AB", "kv:web#p"})
      EXPECT_TRUE(told(decrypt(keyring, ciphertext)).starts_with("3: ")) << keyring;
}

TEST(Names, WithoutAFolderThereAreNoReferences) {
  auto without = settings();
  without.kv_folder.clear();
  EXPECT_EQ(told(decrypt("e", "kv:web#p"), without),
            "3: references to the KV engine are turned off (kv_folder)");
}

TEST(Names, WhatIsNeitherIsRefusedWithoutBeingShown) {
  for (const char* text :
       {"", "vault:", "vault:v", "vault:v:AB", "vault:v1:", "vault:v1", "vault:vx:A",
        "vault:v1:A\"B", "vault:v1:A B", "vault:v1:A\\", "hunter2"}) {
    const std::string said = told(decrypt("e", text));
    EXPECT_TRUE(said.starts_with("3: is neither")) << said;
    EXPECT_EQ(said.find("hunter2"), said.npos);
  }
  EXPECT_TRUE(told(decrypt("e", "vault:v1:" + std::string(1'000, 'A'))).starts_with("3: "));
}

TEST(Names, AReadNamesPathFieldAndVersion) {
  EXPECT_EQ(told(read("apps/web", "password")), "read  apps/web | password");
  EXPECT_EQ(told(read("apps/web", "", "3")), "read 3 apps/web | ");
  for (const auto& bad : {read("", "p"), read("../x", "p"), read("a", "p", "0"),
                          read("a", "p", "v1"), read("a", "\xff")})
    EXPECT_TRUE(told(bad).starts_with("3: ")) << bad.ref;
}

TEST(Names, OtherTypesAreNotKnown) {
  auto item = decrypt("e", "vault:v1:AB");
  item.type = 99;
  EXPECT_TRUE(told(item).starts_with("12: "));
}

TEST(Names, AGroupIsReadAgainAsItWasWritten) {
  for (const Place& place :
       {Place{false, "davit-env_1", ""}, {true, "apps/web", ""}, {true, "a", "7"}}) {
    const Place again = place_of(group_of(place));
    EXPECT_EQ(again.read, place.read);
    EXPECT_EQ(again.name, place.name);
    EXPECT_EQ(again.version, place.version);
  }
}

TEST(Names, APathStandsInAUrlAsItIsMeant) {
  EXPECT_EQ(url_path("apps/web-1_x.y"), "apps/web-1_x.y");
  EXPECT_EQ(url_path("a?b#c%d"), "a%3Fb%23c%25d");
  EXPECT_EQ(url_path("\xc3\xa4"), "%C3%A4");
}

}  // namespace
}  // namespace davit::secrets_transit
