// Role secrets in C++. A backend is one class, and secrets::Role makes its ABI table.
// secrets::Client calls a secrets instance. abi/secrets.h has the contract.
//
//   class Backend {
//    public:
//     using roles = davit::Roles<davit::secrets::Role>;
//     void resolve(const Op&, std::vector<secrets::Item>, secrets::Done);
//   };
//
// `resolve` calls Done exactly once, with one result an item. The Op lives until then.
#pragma once

#include <algorithm>

#include "abi/secrets.h"
#include "lookup.hpp"
#include "plugin.hpp"
#include "secret.hpp"

namespace davit::secrets {

struct Item {
  int32_t type = DAVIT_SECRET_DECRYPT;  // DAVIT_SECRET_...
  std::string keyring, ciphertext;      // of DECRYPT
  std::string ref, field, version;      // of READ
};

struct Value {
  Secret secret;
  std::string version;              // empty: the store has none
  int64_t valid_until_unix_ms = 0;  // 0: not stated
};

using Results = std::vector<Result<Value>>;
using Done = std::function<void(Results)>;

struct Role {
  static constexpr std::string_view id = DAVIT_SECRETS;

  template <class T>
  static const void* vtable() {
    static const davit_secrets table = {
        sizeof(davit_secrets), 0,
        [](davit_instance* i, const davit_op* op, const davit_secret_item* const* items,
           size_t count, davit_secrets_done done, void* ctx) {
          must_not_throw("davit_secrets.resolve", [&] {
            std::vector<Item> owned;
            for (size_t n = 0; n < count; ++n) owned.push_back(from_abi(*items[n]));
            detail::object<T>(i).resolve(Op(op), std::move(owned), [done, ctx](Results results) {
              answer(results, done, ctx);
            });
          });
        }};
    return &table;
  }

 private:
  static Item from_abi(const davit_secret_item& i) {
    return {i.type,      text(i.keyring), std::string(view(i.ciphertext)),
            text(i.ref), text(i.field),   text(i.version)};
  }
  static void answer(const Results& results, davit_secrets_done done, void* ctx) {
    std::vector<davit_error> errors(results.size());
    std::vector<davit_secret_result> abi(results.size());
    std::vector<const davit_secret_result*> pointers;
    for (size_t n = 0; n < results.size(); ++n) {
      abi[n] = {sizeof(davit_secret_result), 0, nullptr, {}, {}, 0};
      if (results[n].ok()) {
        const Value& value = *results[n];
        abi[n].value = bytes(value.secret.view());
        abi[n].version = str(value.version);
        abi[n].valid_until_unix_ms = value.valid_until_unix_ms;
      } else {
        fill(&errors[n], results[n].error());
        abi[n].error = &errors[n];
      }
      pointers.push_back(&abi[n]);
    }
    done(ctx, pointers.data(), pointers.size());
  }
};

// Calls a secrets instance.
class Client {
 public:
  Client() = default;
  explicit Client(davit_ref ref) : ref_(ref) {}
  static Result<Client> find(const Host& host, std::string_view instance) {
    auto ref = davit::find(host, instance, DAVIT_SECRETS);
    if (!ref.ok()) return ref.error();
    return Client(*ref);
  }

  // `done` runs once, on any thread, perhaps before this returns, with one result an item. `op`
  // must live until then. An instance that answers with another number of results gets INTERNAL for
  // every item.
  void resolve(const std::vector<Item>& items, Done done, const Op& op) const {
    std::vector<davit_secret_item> abi;
    for (const Item& i : items)
      abi.push_back({sizeof(davit_secret_item), i.type, str(i.keyring), bytes(i.ciphertext),
                     str(i.ref), str(i.field), str(i.version)});
    std::vector<const davit_secret_item*> pointers;
    for (const auto& i : abi) pointers.push_back(&i);
    static_cast<const davit_secrets*>(ref_.vtable)
        ->resolve(ref_.self, op.abi(), pointers.data(), pointers.size(), &answered,
                  new Call{std::move(done), items.size()});
  }

 private:
  struct Call {
    Done done;
    size_t items;
  };
  static Result<Value> from_abi(const davit_secret_result& r) {
    if (r.error != nullptr) return take(*r.error, r.error->code);
    return Value{Secret(view(r.value)), text(r.version), r.valid_until_unix_ms};
  }
  static Result<Value> miscounted(size_t results, size_t items) {
    return Error{Code::internal, "resolve gave " + std::to_string(results) + " results for " +
                                     std::to_string(items) + " items"};
  }
  static void answered(void* ctx, const davit_secret_result* const* results, size_t count) {
    const std::unique_ptr<Call> call(static_cast<Call*>(ctx));
    Results out;
    out.reserve(call->items);
    for (size_t n = 0; n < call->items; ++n)
      out.push_back(count == call->items ? from_abi(*results[n]) : miscounted(count, call->items));
    must_not_throw("the answer to davit_secrets.resolve", [&] { call->done(std::move(out)); });
  }
  davit_ref ref_{};
};

}  // namespace davit::secrets
