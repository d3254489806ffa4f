// A kind for tests: {"id": "w_1", "ns": "shop", "name": "one", "size": 1}. State running applies,
// archived deletes, odd is a class that means nothing, broken fails for good, any other is
// unhandled; a negative size is invalid.
#pragma once

#include <atomic>
#include <functional>

#include <boost/json.hpp>

#include <davit/kind.hpp>

namespace davit::testing {

class Widget {
 public:
  using roles = Roles<kind::Role>;
  // While true, the kind cannot answer for records whose id begins with "slow".
  inline static std::atomic<bool> busy{false};
  // While true, it makes no message of such records for Krane's agents.
  inline static std::atomic<bool> mute{false};
  // Runs when a slot of this kind or of Gadget is entered, with the names of both. A test lets the
  // time pass there: then the slot takes long.
  using Entered = std::function<void(const std::string& kind, const std::string& slot)>;
  inline static Entered entered;
  explicit Widget(Host) : described_(describe("widget", "Widget")) {}

  const kind::Described& described() const { return described_; }
  Result<Named> identify(std::string_view apply) const {
    enter("identify");
    const auto o = boost::json::parse(apply).as_object();
    return Named{text(o, "id"), text(o, "ns"), text(o, "name")};
  }
  Result<> validate(std::string_view apply) const {
    enter("validate");
    if (busy && is_slow(apply)) return later();
    return valid_size(apply);
  }
  Result<kind::Class> classify(std::string_view state, std::string_view apply) const {
    enter("classify");
    if (busy && is_slow(apply)) return later();
    if (state == "broken") return Error{Code::internal, "a bug"};
    if (state == "odd") return static_cast<kind::Class>(7);
    if (state == "running") return kind::Class::apply;
    return state == "archived" ? kind::Class::remove : kind::Class::unhandled;
  }
  // As many as the size are wanted; a record without one wants what cannot be counted.
  Result<std::string> reconcile(std::string_view input) const {
    enter("reconcile");
    boost::json::error_code none;
    if (busy && is_slow(input)) return later();
    const auto parsed = boost::json::parse(input);
    const auto* size = parsed.find_pointer("/desired/size", none);
    if (size == nullptr) return std::string("{}");
    return "{\"status\":{\"desired\":" + boost::json::serialize(*size) + "}}";
  }
  Result<Named> attribute(std::string_view) const { return Error{Code::not_found, "none"}; }
  Result<std::string> delete_message(const Named& n) const {
    enter("delete_message");
    return "{\"delete\":\"" + n.name + "\"}";
  }
  // Of a size of 0 that wire has no word; it says sizes in another field.
  Result<std::string> apply_message(std::string_view apply) const {
    enter("apply_message");
    if ((busy || mute) && is_slow(apply)) return later();
    if (auto valid = valid_size(apply); !valid.ok()) return valid.error();
    auto o = boost::json::parse(apply).as_object();
    const auto* size = o.if_contains("size");
    if (size == nullptr) return std::string();
    const auto number = size->to_number<int64_t>();
    if (number == 0) return Error{Code::invalid_argument, "cannot be said", "size"};
    o["bounds"] = number;
    return boost::json::serialize(o);
  }
  Result<std::string> to_report(const Named&, const Status&) const { return std::string("{}"); }
  Result<std::pair<Named, Status>> from_report(std::string_view report) const {
    enter("from_report");
    const auto o = boost::json::parse(report).as_object();
    if (busy && text(o, "name") == "name-unreadable") return later();
    Status s;
    s.health = "healthy";
    s.ready = o.at("ready").to_number<int64_t>();
    return std::pair{Named{"", "", text(o, "name")}, s};
  }

 protected:
  Widget(const std::string& kind, const std::string& type) : described_(describe(kind, type)) {}

 private:
  void enter(const char* slot) const {
    if (entered) entered(davit::text(described_.view()->kind), slot);
  }
  static Result<> valid_size(std::string_view apply) {
    const auto o = boost::json::parse(apply).as_object();
    const auto* size = o.if_contains("size");
    if (size != nullptr && size->to_number<int64_t>() < 0)
      return Error{Code::invalid_argument, "must be at least 0", "size"};
    return {};
  }
  static bool is_slow(std::string_view apply) {
    return apply.find("\"id\":\"slow") != std::string_view::npos;
  }
  static Error later() {
    return {Code::unavailable, "its process is starting", {}, std::chrono::milliseconds(2'000)};
  }
  static std::string text(const boost::json::object& o, const char* key) {
    const auto* v = o.if_contains(key);
    return v == nullptr ? "" : std::string(v->as_string());
  }
  static kind::Description describe(const std::string& kind, const std::string& type) {
    kind::Description d;
    d.kind = kind;
    d.columns = {{DAVIT_COLUMN_SPEC, "SIZE", "/size", "integer", 0},
                 {DAVIT_COLUMN_DETAIL, "MADE", "/made", "date", 2}};
    d.apply_type = "test." + type;
    d.ctrl_v1 = kind::CtrlV1{"Watch" + type + "s", "Get" + type,
                             "Report" + type,      "test." + type + "State",
                             "test.Watch",         "test.Get" + type,
                             "test.Report" + type, "test.Report" + type + "Response"};
    return d;
  }
  kind::Described described_;
};

// Another kind of the same sort.
class Gadget : public Widget {
 public:
  using roles = Roles<kind::Role>;
  explicit Gadget(Host) : Widget("gadget", "Gadget") {}
};

inline const davit_plugin* widget_plugin() {
  return davit::detail::Plugin<Widget>::entry("kind_widget", "0", "test");
}
inline const davit_plugin* gadget_plugin() {
  return davit::detail::Plugin<Gadget>::entry("kind_gadget", "0", "test");
}

}  // namespace davit::testing
