// Role kind, bad input: the kind answers any input with an error that blames the caller, or with an
// answer of the right shape. The C++ wrapper turns an exception into INTERNAL, so INTERNAL counts
// as a crash.
#include <random>

#include "kind.hpp"

namespace davit::conformance {
namespace {

using namespace std::string_view_literals;

// Words that kinds look for, so that garbage gets past the first check. The last is not UTF-8.
constexpr std::string_view words[] = {
    "desired",  "observed",        "record",     "metadata",   "name",   "namespace", "labels",
    "spec",     "status",          "kind",       "Pod",        "v1",     "apps/v1",   "apiVersion",
    "replicas", "template",        "0",          "",           "uid",    "limits",    "-1",
    "9e99",     "ownerReferences", "controller", "conditions", "a\0b"sv, "\xff\xfe"};

class Garbage {
 public:
  // `bad_text`: the strings include one that is not UTF-8, which makes the document invalid JSON.
  explicit Garbage(uint32_t seed, bool bad_text = false)
      : random_(seed), words_(static_cast<uint32_t>(std::size(words)) - (bad_text ? 0 : 1)) {}

  json::value any(int depth = 4) {
    switch (below(depth > 0 ? 9 : 7)) {
      case 0:
        return nullptr;
      case 1:
        return below(2) == 0;
      case 2:
        return static_cast<int64_t>(random_());
      case 3:
        return std::numeric_limits<int64_t>::min();
      case 4:
        return std::numeric_limits<uint64_t>::max();
      case 5:
        return 1e300;
      case 6:
        return json::string(word());
      case 7:
        return list(depth);
      default:
        return object(depth);
    }
  }
  json::object object(int depth) {
    json::object out;
    for (uint32_t n = below(5); n > 0; --n) out[word()] = any(depth - 1);
    return out;
  }
  // The value with one of its leaves or branches replaced.
  json::value spoiled(json::value v) {
    json::value* at = &v;
    for (int depth = 0; depth < 6; ++depth) {
      if (auto* o = at->if_object(); o != nullptr && !o->empty() && (depth == 0 || below(3) != 0)) {
        at = &(o->begin() + below(static_cast<uint32_t>(o->size())))->value();
      } else if (auto* a = at->if_array(); a != nullptr && !a->empty() && below(3) != 0) {
        at = &(*a)[below(static_cast<uint32_t>(a->size()))];
      } else {
        break;
      }
    }
    *at = any();
    return v;
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

 private:
  json::array list(int depth) {
    json::array out;
    for (uint32_t n = below(4); n > 0; --n) out.push_back(any(depth - 1));
    return out;
  }
  std::string word() { return std::string(words[below(words_)]); }
  std::mt19937 random_;
  uint32_t words_;
};

std::vector<std::string> texts() {
  std::vector<std::string> out{"",
                               " ",
                               "null",
                               "7",
                               "\"text\"",
                               "[]",
                               "{}",
                               "{",
                               "}",
                               "{\"a\":}",
                               "{}{}",
                               "tru",
                               "\\",
                               std::string(3, '\0'),
                               "{\"a\":\"\xff\"}",
                               "{\"\":{}}",
                               "-",
                               "1e999",
                               "{\"observed\":7}",
                               "{\"desired\":7}",
                               "{\"desired\":[],\"observed\":{}}"};
  out.push_back(std::string(100'000, '['));
  out.push_back(std::string(100'000, '{'));
  std::string deep;
  for (int i = 0; i < 50'000; ++i) deep += "{\"desired\":";
  out.push_back(deep);
  out.push_back("{\"observed\":[\"" + std::string(1'000'000, 'x') + "\"]}");
  return out;
}

class KindGarbage : public KindTest {
 protected:
  template <class T>
  void expect_caller_is_told(const Result<T>& r, const std::string& input) {
    if (r.ok()) return;
    const bool told = r.error().code == Code::invalid_argument || r.error().code == Code::not_found;
    EXPECT_TRUE(told) << why(r) << "\nfor " << input.substr(0, 300);
    EXPECT_FALSE(r.error().message.empty());
  }
  void feed(const std::string& text) {
    expect_caller_is_told(kind_.identify(text), text);
    expect_caller_is_told(kind_.validate(text), text);
    expect_caller_is_told(kind_.attribute(text), text);
    expect_caller_is_told(kind_.classify(text, text), text);
    expect_caller_is_told(kind_.classify(description().default_state, text), text);
    feed_reconcile(text);
    if (table_->from_report != nullptr) expect_caller_is_told(kind_.from_report(text), text);
  }
  void feed_reconcile(const std::string& text) {
    const auto output = kind_.reconcile(text);
    expect_caller_is_told(output, text);
    EXPECT_EQ(output.ok() ? shape_fault(*output) : "", "") << text.substr(0, 300);
  }
};

TEST_F(KindGarbage, K2_IsToldFromJson) {
  for (const auto& text : texts()) feed(text);
}

TEST_F(KindGarbage, K2_IsRefusedWhateverItsTypes) {
  const auto first = static_cast<uint32_t>(random_seed());
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    Garbage garbage(first + seed, seed % 2 == 0);
    feed(json::serialize(garbage.any()));
    feed(json::serialize(garbage.object(4)));
  }
}

TEST_F(KindGarbage, K3_DoesNotPassForAMessage) {
  for (const char* text : {"", "null", "7", "[]", "{}", "\"text\"", "{"}) {
    EXPECT_FALSE(kind_.identify(text).ok()) << text;
    EXPECT_FALSE(kind_.validate(text).ok()) << text;
    EXPECT_FALSE(kind_.attribute(text).ok()) << text;
  }
}

// The error of a refused message names the field.
TEST_F(KindGarbage, K2_InOnePlaceOfAMessageIsHandled) {
  const auto all = samples();
  const auto first = static_cast<uint32_t>(random_seed());
  for (uint32_t seed = 0; !all.empty() && seed < 3000; ++seed) {
    Garbage garbage(first + seed);
    const json::value spoiled = garbage.spoiled(all[seed % all.size()]);
    const std::string apply = json::serialize(spoiled);
    const auto valid = kind_.validate(apply);
    expect_caller_is_told(valid, apply);
    EXPECT_FALSE(!valid.ok() && spoiled.is_object() && valid.error().where.empty()) << why(valid);
    const auto planned = kind_.reconcile(input_of({"id-1", "space", "name"}, &spoiled, {}));
    expect_caller_is_told(planned, apply);
    EXPECT_EQ(planned.ok() ? shape_fault(*planned) : "", "");
    EXPECT_TRUE(planned.ok() || !valid.ok()) << "valid, and yet: " << why(planned) << "\n" << apply;
    feed(apply);
  }
}

TEST_F(KindGarbage, K2_InTheClusterDoesNotStopTheRecord) {
  const auto first = static_cast<uint32_t>(random_seed());
  for (const json::value sample : samples()) {
    const auto named = kind_.identify(json::serialize(sample));
    const auto clean = kind_.reconcile(input_of(*named, &sample, {}));
    ASSERT_TRUE(clean.ok()) << why(clean);
    json::array objects;
    const json::value plan = json::parse(*clean);
    for (const auto& step : plan.at("apply").as_array()) objects.push_back(step.at("object"));
    for (uint32_t seed = 0; seed < 1000; ++seed) {
      Garbage garbage(first + seed);
      const json::value spoiled = garbage.spoiled(objects);
      if (!spoiled.is_array()) continue;
      const auto planned = kind_.reconcile(input_of(*named, &sample, spoiled.get_array()));
      ASSERT_TRUE(planned.ok()) << why(planned) << "\n" << spoiled;
      EXPECT_EQ(shape_fault(*planned), "") << spoiled;
      feed_reconcile(input_of(*named, nullptr, spoiled.get_array()));
      for (const auto& object : spoiled.get_array()) {
        const std::string text = json::serialize(object);
        expect_caller_is_told(kind_.attribute(text), text);
      }
    }
  }
}

}  // namespace
}  // namespace davit::conformance
