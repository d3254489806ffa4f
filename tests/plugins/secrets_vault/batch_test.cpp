// Every file in batch/ is one story. `item K C` adds a ciphertext of a keyring; then `next` prints
// what is asked for. `ok` decrypts it all, `ok C...` only these; `refuse CODE` and `certain CODE`
// are refusals that may be, or are, an item's fault; `keyring CODE` and `all CODE` fail more.
#include "secret_store/batch.hpp"

#include <gtest/gtest.h>
#include <davit/testing/scenario.hpp>
#include <set>
#include <sstream>

#include "secret_store/blame.hpp"
#include "secret_store/code_names.hpp"
#include "vault.hpp"

namespace davit::secrets_vault {
namespace {

using namespace secret_store;

class BatchCommands {
 public:
  std::string run(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "limits") {
      words >> limits_.items_max >> limits_.bytes_max;
    } else if (command == "item") {
      add(words);
    } else if (command == "items") {
      add_many(words);
    } else if (command == "known") {
      known(words);
    } else if (command == "next") {
      return next();
    } else if (command == "ok") {
      decrypt(words);
    } else if (command == "results") {
      return results();
    } else if (command == "blamed") {
      return std::to_string(batch().blamed().size()) +
             (batch().decrypted_any() ? ", some decrypted\n" : ", none decrypted\n");
    } else {
      fail(command, words);
    }
    return {};
  }

 private:
  Batch& batch() {
    if (!batch_) {
      batch_.emplace(items_, limits_, [this](const secrets::Item& item) {
        return asked_by(item, limits_.bytes_max);
      });
    }
    return *batch_;
  }
  void add(std::istringstream& words) {
    secrets::Item item;
    words >> item.keyring >> item.ciphertext;
    if (item.keyring == "-") item.keyring.clear();
    items_.push_back(std::move(item));
  }
  // `items k 100`: ciphertexts c0 to c99
  void add_many(std::istringstream& words) {
    std::string keyring;
    int count = 0;
    words >> keyring >> count;
    for (int n = 0; n < count; ++n)
      items_.push_back({DAVIT_SECRET_DECRYPT, keyring, "c" + std::to_string(n), {}, {}, {}});
  }
  void known(std::istringstream& words) {
    std::string ciphertext;
    words >> ciphertext;
    for (size_t n = 0; n < batch().wanted().size(); ++n) {
      if (batch().wanted()[n].text == ciphertext) batch().known(n, Secret("known " + ciphertext));
    }
  }
  std::string next() {
    const Batch::Part* part = batch().next();
    if (part == nullptr) return "-\n";
    std::string out = std::string(part->group) + ":";
    for (const size_t n : part->wanted) out += " " + std::string(batch().wanted()[n].text);
    return out + "\n";
  }
  void decrypt(std::istringstream& words) {
    std::set<std::string> only;
    for (std::string one; words >> one;) only.insert(one);
    std::vector<std::optional<Secret>> values;
    for (const size_t n : batch().next()->wanted) {
      const std::string ciphertext(batch().wanted()[n].text);
      values.emplace_back();
      if (only.empty() || only.contains(ciphertext))
        values.back() = Secret("value of " + ciphertext);
    }
    batch().decrypted(std::move(values));
  }
  void fail(const std::string& command, std::istringstream& words) {
    std::string code;
    words >> code;
    const Error why{code_named(code).value(), command};
    if (batch().next() == nullptr) throw std::runtime_error("nothing is asked for");
    // `refuse CODE x9`: nine times
    char x = 0;
    int times = 1;
    if (words >> x >> times) {
      for (; times > 1; --times) batch().refused(why, false);
    }
    if (command == "refuse") return batch().refused(why, false);
    if (command == "certain") return batch().refused(why, true);
    if (command == "keyring") return batch().fail_group(why);
    if (command == "all") return batch().fail_all(why);
    throw std::runtime_error("unknown command");
  }
  // The same answers one after the other are counted.
  std::string results() {
    std::string out, last;
    size_t times = 0;
    const auto tell = [&] {
      if (times > 0) out += last + (times > 1 ? " x" + std::to_string(times) : "") + "\n";
    };
    for (const auto& r : batch().take_results({Code::deadline_exceeded, "open"})) {
      const std::string now =
          r.ok() ? std::string(r->secret.view())
                 : r.error().where + ": " + code_name(r.error().code) + ", " + r.error().message;
      if (times > 0 && now != last) {
        tell();
        times = 0;
      }
      last = now;
      ++times;
    }
    tell();
    return out;
  }

  Batch::Limits limits_;
  std::vector<secrets::Item> items_;
  std::optional<Batch> batch_;
};

class BatchStory : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(BatchStory, GoesAsTold) {
  BatchCommands commands;
  EXPECT_EQ(testing::play(GetParam(), [&](const std::string& line) { return commands.run(line); }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Files, BatchStory,
                         ::testing::ValuesIn(testing::stories(TEST_FOLDER "/batch")),
                         testing::StoryName());

std::vector<ItemKey> keys(size_t from, size_t count) {
  std::vector<ItemKey> out;
  for (size_t n = from; n < from + count; ++n) out.push_back(item_key("e", std::to_string(n)));
  return out;
}

TEST(Blame, FewBadItemsAreBad) {
  Blame blame;
  EXPECT_TRUE(blame.items_are_bad(keys(0, Blame::items_max - 1)));
}

TEST(Blame, TheSameItemAgainAndAgainStaysBad) {
  Blame blame;
  for (int n = 0; n < 100; ++n) EXPECT_TRUE(blame.items_are_bad(keys(0, 1)));
}

TEST(Blame, ManyBadItemsAndNothingGoodAreTheVaultsFault) {
  Blame blame;
  EXPECT_TRUE(blame.items_are_bad(keys(0, Blame::items_max - 1)));
  EXPECT_FALSE(blame.items_are_bad(keys(100, 1)));
  EXPECT_FALSE(blame.items_are_bad(keys(0, 1))) << "until it decrypts something";
  blame.vault_works();
  EXPECT_TRUE(blame.items_are_bad(keys(0, 1)));
}

}  // namespace
}  // namespace davit::secrets_vault
