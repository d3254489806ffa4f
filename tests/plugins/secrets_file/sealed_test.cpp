// Sealed values: their two forms, what opens them, and what is noticed.
#include "davit/base64.hpp"
#include "plugin_under_test.hpp"
#include "ref.hpp"

namespace davit::secrets_file {
namespace {

Keys keys_with(KeyPair pair) {
  Keys out;
  out.push_back(std::move(pair));
  return out;
}

// "value for keyring/ref", or what is wrong.
std::string opened(const std::string& text_or_bytes, const Keys& keys) {
  const auto sealed = Sealed::parse(text_or_bytes);
  if (!sealed.ok()) return "! " + sealed.error().message;
  const auto out = sealed->open(keys);
  if (!out.ok()) return "! " + out.error().message;
  return std::string(out->value()) + " for " + out->made_for().keyring + "/" + out->made_for().ref;
}

const std::string not_opened = "! cannot be opened: it was sealed for another key, or is damaged";

TEST(SealedValue, IsOpenedFromTextAndFromBytes) {
  const Keys keys = keys_with(new_pair());
  const auto sealed = Sealed::make(keys[0].open(), {"prod", "a/b"}, "value");
  ASSERT_TRUE(sealed.ok());
  EXPECT_EQ(opened(sealed->text(), keys), "value for prod/a/b");
  EXPECT_EQ(opened(std::string(sealed->bytes()), keys), "value for prod/a/b");
  EXPECT_TRUE(sealed->text().starts_with("davitSeal/1/"));
  EXPECT_EQ(sealed->bytes().size(), overhead_min + 4 + 3 + 5);
}

TEST(SealedValue, WhiteSpaceAndTheOtherAlphabetOfBase64SayNothing) {
  const Keys keys = keys_with(new_pair());
  for (int n = 0; n < 20; ++n) {
    std::string text = seal(keys[0], "prod", "value " + std::to_string(n));
    for (size_t at = 20; at < text.size(); at += 21) text.insert(at, "\r\n\t ");
    while (text.back() == '=') text.pop_back();
    std::replace(text.begin(), text.end(), '/', '_');
    std::replace(text.begin(), text.end(), '+', '-');
    EXPECT_EQ(opened("\n" + text + "\n", keys), "value " + std::to_string(n) + " for prod/");
  }
}

TEST(SealedValue, MayBeEmptyAndMayBeLarge) {
  const Keys keys = keys_with(new_pair());
  EXPECT_EQ(opened(seal(keys[0], "", ""), keys), " for /");
  std::string large(1 << 20, 'x');
  for (size_t at = 0; at < large.size(); ++at) large[at] = static_cast<char>(at * 7919 >> 3);
  EXPECT_EQ(opened(seal(keys[0], "k", large), keys), large + " for k/");
}

TEST(SealedValue, IsAnotherOneEachTime) {
  const KeyPair pair = new_pair();
  const auto first = Sealed::make(pair.open(), {}, "value");
  const auto second = Sealed::make(pair.open(), {}, "value");
  EXPECT_NE(first->text(), second->text());
  EXPECT_NE(first->version(), second->version());
  EXPECT_EQ(Sealed::parse(first->text())->version(), first->version());
  EXPECT_EQ(first->version().size(), 32u);
}

TEST(SealedValue, IsNotOpenedWithAnotherKey) {
  EXPECT_EQ(opened(seal(new_pair(), "prod", "value"), keys_with(new_pair())), not_opened);
}

TEST(SealedValue, IsOpenedWithEachKeyOfAFile) {
  Keys keys;
  for (int n = 0; n < 3; ++n) keys.push_back(new_pair());
  for (const KeyPair& pair : keys)
    EXPECT_EQ(opened(seal(pair, "prod", "value"), keys), "value for prod/");
}

// Each bit of each byte: the mark, the key of the box, its tag, the names, the value.
TEST(SealedValue, EachBitThatIsAnotherOneIsNoticed) {
  const Keys keys = keys_with(new_pair());
  const std::string bytes(Sealed::make(keys[0].open(), {"prod", ""}, "value")->bytes());
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string wrong = bytes;
      wrong[at] = static_cast<char>(wrong[at] ^ 1 << bit);
      const std::string said = opened(wrong, keys);
      EXPECT_TRUE(said.starts_with("! ")) << at << " " << bit;
      if (at >= mark_bytes) {
        EXPECT_EQ(said, not_opened) << at << " " << bit;
      }
    }
  }
}

TEST(SealedValue, EachByteThatIsMissingOrTooManyIsNoticed) {
  const Keys keys = keys_with(new_pair());
  const std::string bytes(Sealed::make(keys[0].open(), {"prod", ""}, "value")->bytes());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_TRUE(opened(bytes.substr(0, size), keys).starts_with("! ")) << size;
  EXPECT_EQ(opened(bytes + '\0', keys), not_opened);
  EXPECT_EQ(opened(bytes + "\n", keys), not_opened) << "bytes have no white space";
}

TEST(SealedValue, AWrongFormIsNamed) {
  const Keys keys = keys_with(new_pair());
  const std::string text = seal(keys[0], "prod", "value");
  std::string later = text;
  later[10] = '2';
  const std::string no_mark =
      "! does not begin with \"davitSeal/1/\": it was not made with davit-seal encrypt";
  const std::string version =
      "! is of another version than \"davitSeal/1/\", the one that this davit has";
  for (const auto& [form, fault] : std::vector<std::pair<std::string, std::string>>{
           {"", "! is empty"},
           {" \n", "! is empty"},
           {"vault:v1:AAEC", no_mark},
           {"age-encryption.org/v1", no_mark},
           {"davitSeal", no_mark},
           {std::string(4096, '\0'), no_mark},
           {later, version},
           {*from_base64(later), version},
           {"davitSeal/1/", "! is cut short"},
           {text.substr(0, 80), "! is cut short"},
           {text.substr(0, 81), "! is damaged: it is not base64 after \"davitSeal/1/\""},
           {text.substr(0, 50) + "%" + text.substr(51),
            "! is damaged: it is not base64 after \"davitSeal/1/\""}})
    EXPECT_EQ(opened(form, keys), fault);
}

// A box that others have sealed for this key, without what it is for.
TEST(SealedValue, WithoutNamesInTheBoxIsRefused) {
  const Keys keys = keys_with(new_pair());
  const std::string none = "! does not say what it is for: it was not made with davit-seal encrypt";
  for (const std::string& payload :
       {std::string("\0\0\0\1", 4), std::string("\0\5abcd", 6), std::string("\xff\xff\0\0", 4),
        std::string("\0\0\4\1", 4) + std::string(1025, 'x')}) {
    std::string bytes(Sealed::make(keys[0].open(), {}, "")->bytes().substr(0, mark_bytes));
    bytes.resize(mark_bytes + crypto_box_SEALBYTES + payload.size());
    crypto_box_seal(reinterpret_cast<unsigned char*>(bytes.data()) + mark_bytes,
                    reinterpret_cast<const unsigned char*>(payload.data()), payload.size(),
                    keys[0].open().bytes.data());
    EXPECT_EQ(opened(bytes, keys), none);
  }
}

TEST(SealedValue, NamesHaveALength) {
  const KeyPair pair = new_pair();
  EXPECT_TRUE(Sealed::make(pair.open(), {std::string(1024, 'k'), std::string(1024, 'r')}, "").ok());
  EXPECT_FALSE(Sealed::make(pair.open(), {std::string(1025, 'k'), ""}, "").ok());
  EXPECT_FALSE(Sealed::make(pair.open(), {"", std::string(1025, 'r')}, "").ok());
}

// No division between the two names can be moved.
TEST(SealedValue, TheNamesAreToldApart) {
  const Keys keys = keys_with(new_pair());
  const SealedFor one{"ab", "c"}, other{"a", "bc"};
  const auto sealed = Sealed::make(keys[0].open(), one, "d");
  EXPECT_EQ(sealed->open(keys)->made_for(), one);
  EXPECT_NE(sealed->open(keys)->made_for(), other);
}

// A point of the curve with which everybody would know the key of the box.
TEST(SealedValue, IsNotMadeForAKeyThatHidesNothing) {
  EXPECT_FALSE(Sealed::make(PublicKey{}, {}, "value").ok());
}

TEST(Ref, IsAPathBelowTheDirectory) {
  for (const char* good : {"a", "apps/web/database", "a b", "x..y", "ä/ö"})
    EXPECT_EQ(ref_fault(good), "") << good;
  for (const std::string& bad :
       {std::string(), std::string("/etc/passwd"), std::string(".."), std::string("../x"),
        std::string("a/../b"), std::string("a/.."), std::string("."), std::string("./a"),
        std::string("a//b"), std::string("a/"), std::string(".hidden"), std::string("..data/x"),
        std::string("a\0b", 3), std::string(256, 'x'), std::string(1025, 'x')})
    EXPECT_NE(ref_fault(bad), "") << bad;
}

TEST(LockedBytesTest, CopyNothingWhenTheyMove) {
  LockedBytes first(5);
  std::memcpy(first.data(), "value", 5);
  const void* where = first.data();
  LockedBytes second(std::move(first));
  EXPECT_EQ(second.view(), "value");
  EXPECT_EQ(second.data(), where);
  EXPECT_EQ(first.size(), 0u);
  second.shorten(2);
  EXPECT_EQ(second.view(), "va");
  second = LockedBytes();
  EXPECT_EQ(second.view(), "");
}

}  // namespace
}  // namespace davit::secrets_file
