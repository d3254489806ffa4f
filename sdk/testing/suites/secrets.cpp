// Role secrets: X1 to X6 of abi/secrets.h.
//
// `conformance.secrets = "FILE"` in the configuration names a JSON file, relative to the
// configuration. The file is a list of items that the instance knows or refuses:
//
//   {"keyring": "env_1", "ciphertext": "...", "value": "plaintext"}
//   {"ref": "apps/web/database", "field": "password", "value": "plaintext"}
//   {"ref": "apps/nothing", "code": 5}
//
// An item with "ciphertext" is to be decrypted, one without is to be read. The list has at least
// one item with "value" and one with "code".
#include <davit/operation.hpp>
#include <davit/secrets.hpp>

#include <atomic>
#include <boost/json.hpp>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <mutex>
#include <thread>

#include "suite.hpp"

namespace davit::conformance {
namespace {

namespace json = boost::json;
using secrets::Item;
using secrets::Results;

struct Known {
  Item item;
  std::string value;
  int code = 0;  // of the refusal; 0: the item has the value
};

// The answers to several calls, which may come on any thread. It calls the table and not
// secrets::Client, which could not tell that an answer came twice.
class Answers {
 public:
  void ask(davit_ref ref, const std::vector<Item>& items, const Operation& operation) {
    std::vector<davit_secret_item> abi;
    for (const Item& i : items)
      abi.push_back({sizeof(davit_secret_item), i.type, str(i.keyring), bytes(i.ciphertext),
                     str(i.ref), str(i.field), str(i.version)});
    std::vector<const davit_secret_item*> pointers;
    for (const auto& i : abi) pointers.push_back(&i);
    static_cast<const davit_secrets*>(ref.vtable)
        ->resolve(ref.self, operation.abi(), pointers.data(), pointers.size(), &answered, this);
  }
  bool wait(size_t count) {
    std::unique_lock lock(mutex_);
    return came_.wait_for(lock, std::chrono::seconds(30), [&] { return all_.size() >= count; });
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }
  Results take(size_t n) {
    const std::lock_guard lock(mutex_);
    return std::move(all_[n]);
  }

 private:
  static void answered(void* ctx, const davit_secret_result* const* results, size_t count) {
    auto* self = static_cast<Answers*>(ctx);
    Results owned;
    for (size_t n = 0; n < count; ++n) {
      const davit_secret_result& r = *results[n];
      if (r.error != nullptr) {
        owned.emplace_back(davit::take(*r.error, r.error->code));
      } else {
        owned.emplace_back(
            secrets::Value{Secret(view(r.value)), text(r.version), r.valid_until_unix_ms});
      }
    }
    const std::lock_guard lock(self->mutex_);
    self->all_.push_back(std::move(owned));
    self->came_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Results> all_;
};

class Secrets : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fresh_.up().ok()) << why(fresh_.up());
    ref_ = fresh_.instance().ref(DAVIT_SECRETS);
    read_known();
    ASSERT_TRUE(count(true) > 0 && count(false) > 0)
        << "conformance.secrets must name a file with an item that has a value and one that has a "
           "code";
  }
  std::ptrdiff_t count(bool with_value) const {
    return std::count_if(known_.begin(), known_.end(),
                         [&](const Known& k) { return (k.code == 0) == with_value; });
  }
  const Known& with_value() const {
    return *std::find_if(known_.begin(), known_.end(), [](const Known& k) { return k.code == 0; });
  }
  Results ask(const std::vector<Item>& items, const Operation& operation = Operation()) {
    Answers& answers = calls_.emplace_back();
    answers.ask(ref_, items, operation);
    if (answers.wait(1)) return answers.take(0);
    ADD_FAILURE() << "no answer";
    return {};
  }
  std::vector<Item> items() const {
    std::vector<Item> out;
    for (const Known& k : known_) out.push_back(k.item);
    return out;
  }
  void expect(const Result<secrets::Value>& result, const Known& known) {
    SCOPED_TRACE(known.item.ref + known.item.keyring);
    if (known.code != 0) {
      ASSERT_FALSE(result.ok());
      EXPECT_EQ(static_cast<int>(result.error().code), known.code) << result.error().message;
      shown_ += result.error().message + result.error().where;
    } else {
      ASSERT_TRUE(result.ok()) << result.error().message;
      EXPECT_TRUE(result->secret.view() == known.value) << "another value";
    }
  }

  std::deque<Answers> calls_;  // outlives the instance, which may answer too often
  Fresh fresh_;
  davit_ref ref_{};
  std::vector<Known> known_;
  std::string shown_;  // the texts of errors

 private:
  void read_known() {
    const std::string file = subject().options.string("secrets");
    if (file.empty()) return;
    const auto folder = subject().config_file.substr(0, subject().config_file.rfind('/') + 1);
    std::ifstream in(file.starts_with('/') ? file : folder + file);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const json::value list = json::parse(text);
    for (const auto& value : list.as_array()) {
      const auto& o = value.as_object();
      const auto get = [&o](const char* key) {
        const auto* v = o.if_contains(key);
        return v == nullptr ? std::string() : std::string(v->as_string());
      };
      Known k;
      k.item = {o.contains("ciphertext") ? DAVIT_SECRET_DECRYPT : DAVIT_SECRET_READ,
                get("keyring"),
                get("ciphertext"),
                get("ref"),
                get("field"),
                get("version")};
      k.value = get("value");
      if (o.contains("code")) k.code = static_cast<int>(o.at("code").as_int64());
      known_.push_back(std::move(k));
    }
  }
};

TEST_F(Secrets, X1_EachItemHasAResultOfItsOwn) {
  const Results results = ask(items());
  ASSERT_EQ(results.size(), known_.size());
  for (size_t i = 0; i < known_.size(); ++i) expect(results[i], known_[i]);
}

TEST_F(Secrets, X1_AnEmptyBatchIsAnsweredWithNoResults) {
  EXPECT_TRUE(ask({}).empty());
}

TEST_F(Secrets, X1_ALargeBatchKeepsItsOrder) {
  std::vector<Item> many;
  for (int i = 0; i < 500; ++i) many.push_back(known_[i % known_.size()].item);
  const Results results = ask(many);
  ASSERT_EQ(results.size(), many.size());
  for (size_t i = 0; i < results.size(); ++i) expect(results[i], known_[i % known_.size()]);
}

TEST_F(Secrets, X2_EachCallIsAnsweredOnceWhateverElseIsAsked) {
  constexpr size_t calls = 64;
  const Operation operation;
  Answers& answers = calls_.emplace_back();
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (size_t i = 0; i < calls / 8; ++i) answers.ask(ref_, items(), operation);
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_TRUE(answers.wait(calls));
  fresh_.stop();
  ASSERT_EQ(answers.count(), calls);
  for (size_t i = 0; i < calls; ++i) {
    const Results results = answers.take(i);
    ASSERT_EQ(results.size(), known_.size());
    for (size_t n = 0; n < known_.size(); ++n) expect(results[n], known_[n]);
  }
}

TEST_F(Secrets, X2_StopAnswersWhatIsOpen) {
  const Operation operation;
  Answers& answers = calls_.emplace_back();
  for (int i = 0; i < 32; ++i) answers.ask(ref_, items(), operation);
  ASSERT_TRUE(fresh_.instance().stop().ok());
  EXPECT_EQ(answers.count(), 32u);
  fresh_.stop();
  EXPECT_EQ(answers.count(), 32u) << "and no more than that";
}

TEST_F(Secrets, X3_ACallThatIsOverResolvesNothing) {
  for (const bool cancelled : {false, true}) {
    const Operation operation(cancelled ? INT64_MAX : fresh_.host().host().now().count() - 1);
    if (cancelled) operation.cancel();
    const Results results = ask({with_value().item}, operation);
    ASSERT_EQ(results.size(), 1u);
    ASSERT_FALSE(results[0].ok()) << "cancelled: " << cancelled;
    EXPECT_EQ(results[0].error().code, cancelled ? Code::cancelled : Code::deadline_exceeded);
  }
}

TEST_F(Secrets, X4_AnUnknownTypeIsUnimplementedAndTheOthersAreResolved) {
  Item unknown = with_value().item;
  unknown.type = 99;
  const Results results = ask({unknown, with_value().item});
  ASSERT_EQ(results.size(), 2u);
  ASSERT_FALSE(results[0].ok());
  EXPECT_EQ(results[0].error().code, Code::unimplemented);
  expect(results[1], with_value());
}

TEST_F(Secrets, X5_NothingIsShown) {
  const Results results = ask(items());
  ASSERT_EQ(results.size(), known_.size());
  for (size_t i = 0; i < known_.size(); ++i) expect(results[i], known_[i]);
  for (const auto& line : fresh_.host().log()) shown_ += line.text();
  for (const Known& k : known_) {
    for (const std::string& hidden : {k.value, k.item.ciphertext}) {
      EXPECT_TRUE(hidden.empty() || shown_.find(hidden) == std::string::npos)
          << "a log line or an error has the plaintext or the ciphertext of " << k.item.keyring
          << k.item.ref;
    }
  }
}

TEST_F(Secrets, X6_TheSameItemHasTheSameValue) {
  for (int i = 0; i < 3; ++i) {
    const Results results = ask({with_value().item});
    ASSERT_EQ(results.size(), 1u);
    expect(results[0], with_value());
  }
}

}  // namespace
}  // namespace davit::conformance
