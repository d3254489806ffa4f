// A kind for the tests of the kind suite. Without the setting `fault` it keeps every rule of its
// role. Each value of the setting breaks one rule, and the suite must fail exactly there.
#include <atomic>

#include <boost/json.hpp>
#include <davit/kind_needs.hpp>
#include <davit/kubernetes/names.hpp>

#include "naive_descriptors.h"

namespace davit {
namespace {

namespace json = boost::json;

std::string text_at(const json::value& from, const char* pointer) {
  json::error_code none;
  const auto* found = from.find_pointer(pointer, none);
  return found != nullptr && found->is_string() ? std::string(found->get_string().c_str())
                                                : std::string();
}

class Naive {
 public:
  using roles = Roles<kind::Role, kind::NeedsRole>;
  explicit Naive(Host host)
      : fault_(Settings(host).string("fault", "none")), described_(describe()) {}

  const kind::Described& described() const { return described_; }
  std::vector<kind::Need> needs() const {
    kind::Need need{"", "v1", "configmaps", {}, {"delete"}, "deletes = false"};
    if (fault_ == "needs_no_version") need.version.clear();
    if (fault_ == "needs_nothing") need.verbs.clear(), need.setting.clear();
    if (fault_ == "needs_others") need.resource = "secrets";
    if (fault_ == "needs_without_value") need.setting = "deletes";
    if (fault_ == "needs_more_each_time") need.verbs.emplace_back(std::to_string(++calls_));
    return {need};
  }
  Result<Named> identify(std::string_view apply) const {
    return named_in(apply, "/id", "/namespace", "/name");
  }
  Result<> validate(std::string_view apply) const {
    if (fault_ == "accepts_anything") return {};
    const auto named = identify(apply);
    if (!named.ok()) return named.error();
    if (fault_ == "any_name") return {};
    if (auto bad = kubernetes::dns_label_fault(named->ns))
      return Error{Code::invalid_argument, *bad, "namespace"};
    if (auto bad = kubernetes::dns_subdomain_fault(named->name))
      return Error{Code::invalid_argument, *bad, "name"};
    return {};
  }
  Result<kind::Class> classify(std::string_view state, std::string_view apply) const {
    if (fault_ == "throws" && !apply.empty()) throw std::runtime_error("a kind's bug");
    if (fault_ == "own_class" && state != "running") return static_cast<kind::Class>(7);
    if (fault_ == "cannot_classify") return Error{Code::internal, "no class"};
    return state == "running" || fault_ == "any_word" ? kind::Class::apply : kind::Class::unhandled;
  }
  Result<Named> attribute(std::string_view object) const {
    const char* name = fault_ == "attributes_by_kind" ? "/kind" : "/metadata/labels/naive-name";
    return named_in(object, "/metadata/labels/naive", "/metadata/namespace", name);
  }
  Result<std::string> reconcile(std::string_view input) const {
    const auto root = parse(input);
    if (!root.ok()) return root.error();
    json::array apply, remove;
    bool there = false;
    if (const auto* observed = root->get_object().if_contains("observed"); observed != nullptr) {
      if (!observed->is_array()) return wrong("observed");
      for (const auto& object : observed->get_array()) look(object, remove, there);
    }
    const auto* desired = root->get_object().if_contains("desired");
    const bool wanted = desired != nullptr;
    if (wanted) {
      const auto named = identify(json::serialize(*desired));
      if (!named.ok()) return named.error();
      if (asks(*root)) return question();
      apply = render(*named);
      if (!text_at(*desired, "/file").empty())
        apply.push_back(render({named->id, named->ns, named->name + "-file"}, named->name));
      if (fault_ != "deletes_what_it_wants") keep_wanted(apply, remove);
      if (fault_ == "leaves_files") remove.clear();
    }
    if (fault_ == "forgets_to_delete") remove.clear();
    if (fault_ == "asks_the_dead" && !wanted && !there && invited(*root)) return question();
    if (fault_ == "deletes_unseen" && !wanted && !there) remove.push_back(removal("space", "one"));
    const bool healthy = wanted && there && fault_ != "never_healthy";
    json::object status{{"health", fault_ == "own_health" ? "splendid"
                                   : healthy              ? "healthy"
                                                          : "unknown"},
                        {"ready", fault_ == "thousand_ready" ? 1000
                                  : there                    ? 1
                                                             : 0},
                        {"gone", !wanted && !there},
                        {"detail", {{"there", there}}}};
    if (fault_ == "remembers") status["message"] = std::to_string(++calls_);
    return json::serialize(json::object{{"apply", apply}, {"delete", remove}, {"status", status}});
  }

 private:
  static bool invited(const json::value& root) { return root.get_object().contains("features"); }
  bool asks(const json::value& root) const {
    if (fault_ == "asks_again") return invited(root);
    if (root.get_object().contains("given")) return false;
    return invited(root) || fault_ == "asks_uninvited";
  }
  std::string question() const {
    std::string name = "palette";
    if (fault_ == "asks_at_random") name += std::to_string(++calls_);
    const json::object ref{
        {"version", "v1"}, {"resource", "configmaps"}, {"namespace", "space"}, {"name", name}};
    const json::object need{
        {"id", "palette"}, {"from", fault_ == "asks_elsewhere" ? "vault" : "object"}, {"ref", ref}};
    return json::serialize(json::object{{"needs", json::array{need}}});
  }

  static Error wrong(std::string field) {
    return {Code::invalid_argument, "is missing", std::move(field)};
  }

  Result<json::value> parse(std::string_view text) const {
    json::error_code error;
    json::value value = json::parse({text.data(), text.size()}, error);
    if (fault_ == "throws") value = json::parse({text.data(), text.size()});
    if (error || !value.is_object()) return wrong("");
    return value;
  }
  Result<Named> named_in(std::string_view text, const char* id, const char* ns,
                         const char* name) const {
    const auto value = parse(text);
    if (!value.ok()) return value.error();
    const Named named{text_at(*value, id), text_at(*value, ns), text_at(*value, name)};
    if (named.id.empty()) return wrong("id");
    if (named.ns.empty()) return wrong("namespace");
    if (named.name.empty()) return wrong("name");
    return named;
  }
  static json::object removal(const std::string& ns, const std::string& name) {
    return {{"group", ""},
            {"version", "v1"},
            {"resource", "configmaps"},
            {"namespace", ns},
            {"name", name}};
  }
  void look(const json::value& object, json::array& remove, bool& there) const {
    const std::string ns = text_at(object, "/metadata/namespace"),
                      name = text_at(object, "/metadata/name");
    if (text_at(object, "/kind") != "ConfigMap" || ns.empty() || name.empty()) return;
    there = true;
    const bool ends = !text_at(object, "/metadata/deletionTimestamp").empty();
    if (ends && fault_ != "deletes_again") return;
    remove.push_back(removal(ns, name));
  }
  static void keep_wanted(const json::array& apply, json::array& remove) {
    json::array unwanted;
    for (const auto& removed : remove) {
      const bool wanted = std::any_of(apply.begin(), apply.end(), [&](const json::value& step) {
        return text_at(step, "/object/metadata/name") == text_at(removed, "/name") &&
               text_at(step, "/object/metadata/namespace") == text_at(removed, "/namespace");
      });
      if (!wanted) unwanted.push_back(removed);
    }
    remove = std::move(unwanted);
  }
  json::array render(const Named& n) const {
    json::array out;
    out.push_back(render(n, n.name));
    return out;
  }
  // One object of the record that is named `of`.
  json::object render(const Named& n, const std::string& of) const {
    json::object labels{{"naive", n.id}, {"naive-name", of}, {"made-by", "naive"}};
    json::object metadata{{"name", n.name}, {"namespace", n.ns}, {"labels", std::move(labels)}};
    if (fault_ == "loses_label") metadata["labels"].as_object().erase("made-by");
    const char* made = fault_ == "undescribed" ? "Secret" : "ConfigMap";
    json::object step{{"object", {{"apiVersion", "v1"}, {"kind", made}, {"metadata", metadata}}}};
    if (fault_ == "owns_itself") step["owner"] = 0;
    return step;
  }
  kind::Description describe() const {
    kind::Description d;
    d.kind = fault_ == "shouts" ? "Naive" : "naive";
    d.apply_type = "davit.test.ApplyNaive";
    d.descriptor_set = naive_descriptors();
    const std::string selector = fault_ == "blind" ? "" : "made-by=naive";
    d.resources = {{DAVIT_RESOURCE_OWNED, "", "v1", "configmaps", "ConfigMap", true, selector, {}}};
    d.columns = {
        {DAVIT_COLUMN_SPEC, "N", fault_ == "column_of_no_spec" ? "/number" : "/name"},
        {DAVIT_COLUMN_DETAIL, "THERE", fault_ == "column_of_no_detail" ? "/where" : "/there"}};
    if (fault_ == "odd_column") d.columns[0].type = "colour";
    return d;
  }

  std::string fault_;
  kind::Described described_;
  mutable std::atomic<int> calls_{0};
};

}  // namespace
}  // namespace davit

DAVIT_PLUGIN(davit::Naive, "kind_naive", DAVIT_PLUGIN_VERSION,
             "a kind that breaks one rule on demand")
