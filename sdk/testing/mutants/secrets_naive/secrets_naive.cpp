// A secrets instance for the tests of the secrets suite. Without the setting `fault` it keeps every
// rule of its role. Each value of the setting breaks one rule, and the suite must fail exactly
// there. It "decrypts" by reversing the text, and reads from a table of two secrets.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <davit/outstanding.hpp>
#include <davit/secrets.hpp>

namespace davit {
namespace {

using secrets::Item;
using secrets::Results;
using secrets::Value;

class Naive {
 public:
  using roles = Roles<secrets::Role>;
  static constexpr uint32_t max_concurrency = 2;
  explicit Naive(Host host) : host_(host), fault_(Settings(host).string("fault", "none")) {}

  void resolve(const Op& op, std::vector<Item> items, secrets::Done done) {
    // The calls of this fault take so long that some are still open at a stop.
    const std::chrono::milliseconds first(fault_ == "forgets_at_stop" ? 50 : 0);
    host_.blocking("", [this, first, op, items = std::move(items), done = std::move(done),
                        ticket = open_.begin()] {
      std::this_thread::sleep_for(first);
      answer(op, items, done);
    });
  }
  Result<> stop(const Op& op) {
    return fault_ == "forgets_at_stop" ? Result<>() : open_.wait(host_, op);
  }
  ~Naive() { static_cast<void>(open_.wait(host_, Op())); }

 private:
  void answer(const Op& op, const std::vector<Item>& items, const secrets::Done& done) {
    const bool bad = fault_ == "fails_all" && std::any_of(items.begin(), items.end(), [&](auto& i) {
                       return !one(op, i).ok();
                     });
    Results results;
    for (const Item& i : items)
      results.push_back(bad ? Result<Value>(refused(Code::invalid_argument, i)) : one(op, i));
    if (fault_ == "loses_one" && !results.empty()) results.pop_back();
    if (fault_ == "mixes_up") std::reverse(results.begin(), results.end());
    if (fault_ == "answers_twice") done(copy(results));
    if (fault_ == "tells") host_.info("resolved", {{"value", last_}});
    done(std::move(results));
  }
  static Error refused(Code code, const Item& i) {
    return {code, "secret cannot be resolved", i.ref + i.keyring, {}};
  }
  Result<Value> one(const Op& op, const Item& i) {
    if (fault_ != "never_gives_up") {
      if (op.cancelled()) return refused(Code::cancelled, i);
      if (op.deadline_ns() < host_.now().count()) return refused(Code::deadline_exceeded, i);
    }
    std::string value;
    if (i.type == DAVIT_SECRET_READ || fault_ == "any_type") {
      if (i.ref == "fixed") value = "first";
      if (i.ref == "other") value = "second";
      if (value.empty())
        return refused(fault_ == "wrong_code" ? Code::internal : Code::not_found, i);
    } else if (i.type == DAVIT_SECRET_DECRYPT) {
      value.assign(i.ciphertext.rbegin(), i.ciphertext.rend());
    } else {
      return refused(Code::unimplemented, i);
    }
    if (fault_ == "tells") last_ = value;
    if (fault_ == "changes" && ++calls_ > 1) value += "!";
    return Value{Secret(value), {}, 0};
  }
  static Results copy(const Results& results) {
    Results out;
    for (const auto& r : results) {
      if (r.ok()) {
        out.emplace_back(Value{Secret(r->secret.view()), {}, 0});
      } else {
        out.emplace_back(r.error());
      }
    }
    return out;
  }
  Host host_;
  std::string fault_, last_;
  std::atomic<int> calls_{0};
  Outstanding open_;
};

}  // namespace
}  // namespace davit

DAVIT_PLUGIN(davit::Naive, "secrets_naive", "0.1.0", "breaks the rules of secrets, for tests")
