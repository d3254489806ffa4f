// Role kind in C++. A kind is one class with plain, const, pure methods, and kind::Role makes its
// ABI table. kind::Client calls a kind instance. abi/kind.h has the contract (K1 to K12) and the
// JSON shapes.
//
//   class Widget {
//    public:
//     using roles = davit::Roles<davit::kind::Role>;
//     explicit Widget(davit::Host);
//     const kind::Described& described() const;      // returns a member
//     Result<Named> identify(std::string_view apply) const;
//     Result<> validate(std::string_view apply) const;
//     Result<kind::Class> classify(std::string_view state, std::string_view apply) const;
//     Result<std::string> reconcile(std::string_view input) const;
//     // or, when several records may share an object, Result<std::vector<Named>>
//     Result<Named> attribute(std::string_view object) const;
//     // only with Description::ctrl_v1:
//     Result<std::string> delete_message(const Named&) const;
//     Result<std::string> to_report(const Named&, const Status&) const;
//     Result<std::pair<Named, Status>> from_report(std::string_view report) const;
//     Result<std::string> apply_message(std::string_view apply) const;  // optional
//   };
#pragma once

#include "kind_description.hpp"
#include "lookup.hpp"
#include "plugin.hpp"
#include "records.hpp"

namespace davit {

// A record's id, and its namespace and name in the cluster.
struct Named {
  std::string id, ns, name;
  auto operator<=>(const Named&) const = default;
  bool operator==(const Named&) const = default;
};
inline Named from_abi(const davit_named& n) {
  return {text(n.id), text(n.ns), text(n.name)};
}
inline davit_named to_abi(const Named& n) {
  return {str(n.id), str(n.ns), str(n.name)};
}

namespace kind {

using davit::from_abi;
using davit::to_abi;

enum class Class : int32_t {
  unhandled = DAVIT_CLASS_UNHANDLED,
  apply = DAVIT_CLASS_APPLY,
  remove = DAVIT_CLASS_DELETE,
};

struct Role {
  static constexpr std::string_view id = DAVIT_KIND;

  template <class T>
  static const void* vtable() {
    static const davit_kind table = {
        sizeof(davit_kind),
        0,
        [](davit_instance* i) {
          return must_not_throw("davit_kind.describe",
                                [&] { return object<T>(i).described().view(); });
        },
        [](davit_instance* i, davit_str apply, davit_visit_named visit, void* ctx, davit_error* e) {
          return named(e, visit, ctx, [&] { return object<T>(i).identify(view(apply)); });
        },
        [](davit_instance* i, davit_str apply, davit_error* e) {
          return guard(e, [&] { return object<T>(i).validate(view(apply)); });
        },
        [](davit_instance* i, davit_str state, davit_str apply, int32_t* out, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            const Result<Class> r = object<T>(i).classify(view(state), view(apply));
            if (!r.ok()) return r.error();
            *out = static_cast<int32_t>(*r);
            return {};
          });
        },
        [](davit_instance* i, davit_str input, const davit_sink* out, davit_error* e) {
          return json(e, out, [&] { return object<T>(i).reconcile(view(input)); });
        },
        [](davit_instance* i, davit_str observed, davit_visit_named visit, void* ctx,
           davit_error* e) {
          return named(e, visit, ctx, [&] { return object<T>(i).attribute(view(observed)); });
        },
        delete_slot<T>(),
        to_report_slot<T>(),
        from_report_slot<T>(),
        apply_slot<T>()};
    return &table;
  }

 private:
  template <class T>
  static const T& object(davit_instance* i) {
    return *reinterpret_cast<const T*>(i);
  }
  template <class F>
  static int32_t json(davit_error* e, const davit_sink* out, F f) {
    return guard(e, [&]() -> Result<> {
      auto r = f();
      if (!r.ok()) return r.error();
      emit(out, *r);
      return {};
    });
  }
  template <class F>
  static int32_t named(davit_error* e, davit_visit_named visit, void* ctx, F f) {
    return guard(e, [&]() -> Result<> {
      auto r = f();
      if (!r.ok()) return r.error();
      if constexpr (std::is_same_v<decltype(r), Result<Named>>) {
        const davit_named n = to_abi(*r);
        visit(ctx, &n);
      } else {
        for (const Named& each : *r) {
          const davit_named n = to_abi(each);
          visit(ctx, &n);
        }
      }
      return {};
    });
  }
  template <class T>
  static constexpr bool speaks_ctrl_v1 = requires(const T& t, Named n) {
    t.delete_message(n);
  };
  template <class T>
  static auto delete_slot() -> decltype(davit_kind::delete_message) {
    if constexpr (speaks_ctrl_v1<T>) {
      return [](davit_instance* i, const davit_named* n, const davit_sink* out, davit_error* e) {
        return json(e, out, [&] { return object<T>(i).delete_message(from_abi(*n)); });
      };
    } else {
      return nullptr;
    }
  }
  template <class T>
  static auto to_report_slot() -> decltype(davit_kind::to_report) {
    if constexpr (requires(const T& t, Named n, Status s) { t.to_report(n, s); }) {
      return [](davit_instance* i, const davit_named* n, const davit_status* s,
                const davit_sink* out, davit_error* e) {
        return json(e, out, [&] { return object<T>(i).to_report(from_abi(*n), from_abi(*s)); });
      };
    } else {
      return nullptr;
    }
  }
  template <class T>
  static auto from_report_slot() -> decltype(davit_kind::from_report) {
    if constexpr (requires(const T& t) { t.from_report(std::string_view{}); }) {
      return [](davit_instance* i, davit_str report, davit_visit_named visit_named,
                davit_visit_status visit_status, void* ctx, davit_error* e) {
        return guard(e, [&]() -> Result<> {
          auto r = object<T>(i).from_report(view(report));
          if (!r.ok()) return r.error();
          const davit_named n = to_abi(r->first);
          const StatusView s(r->second);
          visit_named(ctx, &n);
          visit_status(ctx, &s.abi);
          return {};
        });
      };
    } else {
      return nullptr;
    }
  }
  template <class T>
  static auto apply_slot() -> decltype(davit_kind::apply_message) {
    if constexpr (requires(const T& t) { t.apply_message(std::string_view{}); }) {
      return [](davit_instance* i, davit_str apply, const davit_sink* out, davit_error* e) {
        return json(e, out, [&] { return object<T>(i).apply_message(view(apply)); });
      };
    } else {
      return nullptr;
    }
  }
};

// Calls a kind instance. What asks it may block: call that on the pool `instance()` (abi/kind.h).
class Client {
 public:
  Client() = default;
  explicit Client(davit_ref ref)
      : ref_(ref),
        vtable_(static_cast<const davit_kind*>(ref.vtable)),
        description_(std::make_shared<Description>(from_abi(*vtable_->describe(ref.self)))) {}

  // Every kind instance of this process. Only in wire().
  static std::vector<Client> all(const Host& host) {
    std::vector<Client> out;
    for (const auto& ref : each(host, DAVIT_KIND)) out.emplace_back(ref);
    return out;
  }

  const Description& description() const { return *description_; }
  const std::string& kind() const { return description_->kind; }
  // The name of the instance, which is also that of its pool.
  std::string_view instance() const { return view(ref_.instance); }
  Result<Schema> schema(const Host& host) const {
    return host.schema(description_->descriptor_set, description_->json_fields);
  }

  Result<Named> identify(std::string_view apply) const {
    auto all = named([&](davit_visit_named v, void* ctx, davit_error* e) {
      return vtable_->identify(ref_.self, str(apply), v, ctx, e);
    });
    if (!all.ok()) return all.error();
    if (all->size() == 1) return std::move(all->front());
    return Error{Code::internal, "kind \"" + kind() + "\" names " + std::to_string(all->size()) +
                                     " records in one message"};
  }
  Result<> validate(std::string_view apply) const {
    return checked([&](davit_error* e) { return vtable_->validate(ref_.self, str(apply), e); });
  }
  Result<Class> classify(std::string_view state, std::string_view apply) const {
    if (state == "deleted") return Class::remove;
    int32_t found = DAVIT_CLASS_UNHANDLED;
    auto r = checked([&](davit_error* e) {
      return vtable_->classify(ref_.self, str(state), str(apply), &found, e);
    });
    if (!r.ok()) return r.error();
    // A number that this host does not know: the record is held, never deleted.
    switch (found) {
      case DAVIT_CLASS_APPLY:
        return Class::apply;
      case DAVIT_CLASS_DELETE:
        return Class::remove;
      default:
        return Class::unhandled;
    }
  }
  Result<std::string> reconcile(std::string_view input) const {
    return json([&](const davit_sink* s, davit_error* e) {
      return vtable_->reconcile(ref_.self, str(input), s, e);
    });
  }
  // Not empty: an object that belongs to no record is NOT_FOUND.
  Result<std::vector<Named>> attribute(std::string_view observed) const {
    auto all = named([&](davit_visit_named v, void* ctx, davit_error* e) {
      return vtable_->attribute(ref_.self, str(observed), v, ctx, e);
    });
    if (all.ok() && all->empty()) return Error{Code::not_found, "belongs to no record"};
    return all;
  }
  Result<std::string> delete_message(const Named& n) const {
    const davit_named abi = to_abi(n);
    return json([&](const davit_sink* s, davit_error* e) {
      return vtable_->delete_message(ref_.self, &abi, s, e);
    });
  }
  // The apply message as ctrl.v1 peers get it; empty: unchanged. On an error, do not send it.
  Result<std::string> apply_message(std::string_view apply) const {
    if (vtable_->apply_message == nullptr) {
      auto valid = validate(apply);
      if (!valid.ok()) return valid.error();
      return std::string();
    }
    return json([&](const davit_sink* s, davit_error* e) {
      return vtable_->apply_message(ref_.self, str(apply), s, e);
    });
  }
  Result<std::string> to_report(const Named& n, const Status& status) const {
    const davit_named abi = to_abi(n);
    const StatusView v(status);
    return json([&](const davit_sink* s, davit_error* e) {
      return vtable_->to_report(ref_.self, &abi, &v.abi, s, e);
    });
  }
  Result<std::pair<Named, Status>> from_report(std::string_view report) const {
    std::pair<Named, Status> out;
    Visitor visitor([&out](const auto& part) {
      std::get<decltype(from_abi(part))>(out) = from_abi(part);
      return true;
    });
    auto r = checked(
        [&](davit_error* e) {
          return vtable_->from_report(ref_.self, str(report), visitor, visitor, &visitor, e);
        },
        visitor);
    if (!r.ok()) return r.error();
    return out;
  }

 private:
  template <class F>
  static Result<std::string> json(F f) {
    StringSink out;
    auto r = checked([&](davit_error* e) { return f(out.get(), e); }, out);
    if (!r.ok()) return r.error();
    return out.take();
  }
  template <class F>
  static Result<std::vector<Named>> named(F f) {
    std::vector<Named> out;
    Visitor visitor([&out](const davit_named& n) { out.push_back(from_abi(n)); });
    auto r = checked([&](davit_error* e) { return f(visitor, &visitor, e); }, visitor);
    if (!r.ok()) return r.error();
    return out;
  }
  davit_ref ref_{};
  const davit_kind* vtable_ = nullptr;
  std::shared_ptr<const Description> description_;
};

}  // namespace kind
}  // namespace davit
