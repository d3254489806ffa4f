// KindFront: stands between the applier and a real kind, and lets a test answer in the kind's
// place: with errors, with members that nobody knows, with questions. What passes must keep to the
// JSON Schemas of the SDK.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <davit/kind.hpp>

#include "json_schema.hpp"

namespace davit::applier::test {

class KindFront {
 public:
  explicit KindFront(davit_ref behind)
      : behind_(behind), real_(static_cast<const davit_kind*>(behind.vtable)) {}

  // What a slot answers for this text instead; nothing: the real kind answers.
  using Refuse = std::function<std::optional<Error>(const std::string& text)>;
  Refuse validate, reconcile, attribute;
  // Changes the answer of reconcile.
  std::function<std::string(const std::string& input, std::string output)> answers;
  // Names more records that an object belongs to.
  std::function<std::vector<Named>(const std::string& object)> also;
  std::vector<std::string> inputs;  // of reconcile
  // How often reconcile was asked about the record of this name.
  size_t asked(const std::string& name) const {
    size_t out = 0;
    for (const auto& input : inputs)
      out += input.find("\"name\":\"" + name + "\",\"version\"") == std::string::npos ? 0 : 1;
    return out;
  }

  static const davit_kind* table() {
    static const davit_kind table = [] {
      davit_kind t{};
      t.struct_size = sizeof t;
      t.describe = [](davit_instance* i) { return of(i).real_->describe(of(i).behind_.self); };
      t.identify = [](davit_instance* i, davit_str apply, davit_visit_named visit, void* ctx,
                      davit_error* e) {
        return of(i).real_->identify(of(i).behind_.self, apply, visit, ctx, e);
      };
      t.validate = [](davit_instance* i, davit_str apply, davit_error* e) {
        if (const auto no = refused(of(i).validate, apply)) return fill(e, *no);
        return of(i).real_->validate(of(i).behind_.self, apply, e);
      };
      t.classify = [](davit_instance* i, davit_str state, davit_str apply, int32_t* out,
                      davit_error* e) {
        return of(i).real_->classify(of(i).behind_.self, state, apply, out, e);
      };
      t.reconcile = [](davit_instance* i, davit_str input, const davit_sink* out, davit_error* e) {
        KindFront& front = of(i);
        front.inputs.push_back(text(input));
        EXPECT_EQ(conformance::reconcile_input_schema().fault(view(input)), "") << view(input);
        if (const auto no = refused(front.reconcile, input)) return fill(e, *no);
        StringSink real;
        const int32_t code = front.real_->reconcile(front.behind_.self, input, real.get(), e);
        if (code != DAVIT_OK) return code;
        std::string answer = real.take();
        EXPECT_EQ(conformance::reconcile_output_schema().fault(answer), "") << answer;
        if (front.answers) answer = front.answers(text(input), std::move(answer));
        emit(out, answer);
        return DAVIT_OK;
      };
      t.attribute = [](davit_instance* i, davit_str object, davit_visit_named visit, void* ctx,
                       davit_error* e) {
        KindFront& front = of(i);
        if (const auto no = refused(front.attribute, object)) return fill(e, *no);
        const int32_t code = front.real_->attribute(front.behind_.self, object, visit, ctx, e);
        if (code != DAVIT_OK || !front.also) return code;
        for (const Named& more : front.also(text(object))) {
          const davit_named n = to_abi(more);
          visit(ctx, &n);
        }
        return DAVIT_OK;
      };
      return t;
    }();
    return &table;
  }

 private:
  static KindFront& of(davit_instance* i) { return *reinterpret_cast<KindFront*>(i); }
  static std::optional<Error> refused(const Refuse& by, davit_str of_what) {
    return by ? by(text(of_what)) : std::nullopt;
  }

  davit_ref behind_;
  const davit_kind* real_;
};

}  // namespace davit::applier::test
