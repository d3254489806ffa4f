// Calls of `resolve`: limits, callers who give up, a stop, and callers beside each other.
#include <atomic>
#include <thread>

#include "plugin_under_test.hpp"

namespace davit::secrets_file {
namespace {

class Calls : public OnFiles {
 protected:
  std::vector<Item> many(size_t count) const {
    return std::vector<Item>(count, to_decrypt("prod", seal(pair_, "prod", "value")));
  }
};

// The op of a caller who waits for so many items: then it cancels, or its deadline has passed.
class PatientFor {
 public:
  PatientFor(int items, bool cancels) : left_(items), cancels_(cancels) {
    abi_ = *Op().abi();
    abi_.cancelled = [](const davit_op* op) -> int32_t {
      auto* self = reinterpret_cast<PatientFor*>(const_cast<davit_op*>(op));
      if (self->left_-- > 0) return 0;
      self->abi_.deadline_ns = 0;
      return self->cancels_ ? 1 : 0;
    };
  }
  Op op() const { return Op(&abi_); }

 private:
  davit_op abi_;  // first: the callee's pointer is this object's
  int left_;
  const bool cancels_;
};

// The op of a caller for whom each item takes a millisecond, until he gives up.
class Slow {
 public:
  Slow() {
    abi_ = *Op().abi();
    abi_.cancelled = [](const davit_op* op) -> int32_t {
      if (reinterpret_cast<const Slow*>(op)->cancelled_) return 1;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return 0;
    };
  }
  Op op() const { return Op(&abi_); }
  void cancel() { cancelled_ = true; }

 private:
  davit_op abi_;  // first: the callee's pointer is this object's
  std::atomic<bool> cancelled_{false};
};

TEST_F(Calls, AValueMayBeAsLargeAsTheSettingSays) {
  const std::string largest(1 << 20, 'x');
  const std::string fault = "3 is larger than value_bytes_max (1048576 bytes)";
  const Life life(config());
  EXPECT_EQ(life.one(to_decrypt("prod", seal(pair_, "prod", largest))), largest);
  EXPECT_EQ(life.one(to_decrypt("prod", seal(pair_, "prod", largest + "x"))), fault);
  EXPECT_EQ(life.one(to_decrypt("prod", seal(pair_, "prod", largest + largest))), fault);
  EXPECT_EQ(life.one(to_decrypt("prod", std::string(64 << 20, 'A'))), fault);
  put_sealed("large", largest);
  put_sealed("larger", largest + "x");
  EXPECT_EQ(life.one(to_read("large")), largest);
  EXPECT_EQ(life.one(to_read("larger")), "14 its file: " + fault.substr(2));
}

TEST_F(Calls, TheSettingBoundsTheValueAndNotItsForm) {
  testing::Config small{{"key_file", key_file()}, {"value_bytes_max", 8}};
  const Life life(small);
  EXPECT_EQ(life.one(to_decrypt("prod", seal(pair_, "prod", "8 bytes."))), "8 bytes.");
  EXPECT_EQ(life.one(to_decrypt("prod", seal(pair_, "prod", "9 bytes.."))),
            "3 is larger than value_bytes_max (8 bytes)");
  const std::string name(1000, 'k');
  EXPECT_EQ(life.one(to_decrypt(name, seal(pair_, name, "8 bytes."))), "8 bytes.");
}

TEST_F(Calls, GarbageIsRefusedItemByItem) {
  const Life life(config());
  std::vector<Item> items;
  uint64_t state = 1;
  for (size_t n = 0; n < 500; ++n) {
    std::string noise;
    for (size_t k = 0; k < n; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      noise += static_cast<char>(state >> 56);
    }
    items.push_back(to_decrypt("prod", n % 2 == 0 ? noise : "davitSeal/1/" + noise));
  }
  items.push_back(many(1).front());
  const Results results = life.ask(items);
  ASSERT_EQ(results.size(), items.size());
  for (size_t n = 0; n + 1 < results.size(); ++n) {
    ASSERT_FALSE(results[n].ok());
    EXPECT_EQ(results[n].error().code, Code::invalid_argument);
    EXPECT_EQ(results[n].error().where, "prod");
  }
  EXPECT_EQ(results.back()->secret.view(), "value");
  EXPECT_EQ(life.host.metric("davit_secrets_file_resolved_total"), 1);
  EXPECT_EQ(life.host.metric("davit_secrets_file_refused_total"), 500);
}

TEST_F(Calls, AnUnknownTypeIsUnimplemented) {
  const Life life(config());
  Item item = many(1).front();
  item.type = 77;
  EXPECT_EQ(life.one(item), "12 this instance does not know the item's type");
}

// One file that many items name would take any amount of memory.
TEST_F(Calls, TheValuesOfOneCallAreBounded) {
  put_sealed("large", std::string(1 << 20, 'x'));
  const Life life(config());
  const Results results = life.ask(std::vector<Item>(200, to_read("large")));
  size_t good = 0;
  for (const auto& result : results) {
    good += result.ok() ? 1 : 0;
    if (!result.ok()) {
      EXPECT_EQ(result.error().code, Code::resource_exhausted);
    }
  }
  EXPECT_EQ(good, 64u);
  EXPECT_EQ(life.one(to_read("large")).size(), size_t{1} << 20);
}

TEST_F(Calls, WhoGivesUpInTheMiddleIsAnsweredForTheRest) {
  for (const bool cancels : {true, false}) {
    const Life life(config());
    const PatientFor op(300, cancels);
    const Results results = life.ask(many(600), op.op());
    ASSERT_EQ(results.size(), 600u);
    for (size_t n = 0; n < results.size(); ++n) {
      ASSERT_EQ(results[n].ok(), n < 300) << n;
      if (n < 300) continue;
      EXPECT_EQ(results[n].error().code, cancels ? Code::cancelled : Code::deadline_exceeded);
      EXPECT_EQ(results[n].error().where, "prod");
    }
  }
}

// The pool has two threads, and each of four calls takes ten seconds at least.
TEST_F(Calls, ALargeCallDelaysNoSmallOne) {
  Slow large;
  const Life life(config());
  std::vector<std::shared_ptr<Answer>> answers;
  for (int n = 0; n < 4; ++n) answers.push_back(life.begin(many(10'000), large.op()));
  for (int n = 0; n < 5; ++n) EXPECT_TRUE(life.ask(many(1)).front().ok());
  for (const auto& answer : answers) EXPECT_FALSE(answer->came());
  large.cancel();
  for (const auto& answer : answers) EXPECT_EQ(answer->wait().size(), 10'000u);
}

TEST_F(Calls, AStopAnswersWhatIsOpenSoon) {
  const Slow slow;
  Life life(config());
  std::vector<std::shared_ptr<Answer>> answers;
  for (int n = 0; n < 4; ++n) answers.push_back(life.begin(many(3'000), slow.op()));
  ASSERT_TRUE(life.instance.stop(std::chrono::seconds(60)).ok());
  for (const auto& answer : answers) {
    ASSERT_TRUE(answer->came());
    const Results results = answer->wait();
    ASSERT_EQ(results.size(), 3'000u);
    ASSERT_FALSE(results.back().ok());
    EXPECT_EQ(results.back().error().code, Code::unavailable);
  }
}

// No error says more of an item than its keyring or ref.
TEST_F(Calls, NothingOfAnItemIsShown) {
  put_sealed("db",
             "{\"shown_name\": {\"x\": \"shown_value\"}, \"shown_twice\": 1, \"shown_twice\": 2}");
  const Life life(config());
  const std::string ciphertext = seal(new_pair(), "prod", "shown_value");
  std::string said;
  for (const Item& item :
       {to_decrypt("prod", ciphertext), to_decrypt("dev", seal(pair_, "prod", "shown_value")),
        to_decrypt("prod", "shown_text"), to_read("db", "shown_name"), to_read("db", "shown_field"),
        to_read("db", "shown_twice", "shown_version"), to_read("db", "shown_twice")}) {
    const auto results = life.ask({item});
    ASSERT_FALSE(results[0].ok());
    said += results[0].error().message + results[0].error().where;
  }
  for (const auto& line : life.host.log()) said += line.text();
  for (const std::string& hidden : {std::string("shown"), ciphertext.substr(12, 20),
                                    std::string(pair_.secret_text().view().substr(14, 20))})
    EXPECT_FALSE(has(said, hidden)) << said;
}

}  // namespace
}  // namespace davit::secrets_file
