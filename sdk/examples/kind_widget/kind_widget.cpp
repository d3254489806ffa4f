// A kind outside of Davit's tree. A widget is a ConfigMap. With this file a server and an agent
// take widgets from an operator's document to the Kubernetes API, and their status back.
//
// A kind is pure: JSON in, JSON out. It has no clock, socket or thread, and remembers nothing.
// <davit/abi/kind.h> has the shapes. Davit's SDK needs no JSON library, so a kind may use any.
#include <algorithm>

#include <boost/json.hpp>
#include <davit/kind.hpp>
#include <davit/kubernetes/names.hpp>

#include "widget_descriptors.h"

namespace acme {
namespace {

using namespace davit;
namespace json = boost::json;

constexpr const char* component = "app.kubernetes.io/component";
constexpr const char* id_label = "widgets.acme.example/id";
constexpr int64_t size_max = 10'000;

Error wrong(std::string field, std::string what) {
  return {Code::invalid_argument, std::move(what), std::move(field)};
}

std::string text_at(const json::value& from, const char* pointer) {
  json::error_code none;
  const auto* found = from.find_pointer(pointer, none);
  const auto* text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string() : std::string(text->data(), text->size());
}

Result<json::value> parse(std::string_view text) {
  json::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error);
  if (error || !value.is_object()) return wrong("", "not a JSON object");
  return value;
}

// proto3 has no required fields, so the kind checks them.
Result<Named> named_in(const json::value& widget) {
  const Named named{text_at(widget, "/widget_id"), text_at(widget, "/namespace"),
                    text_at(widget, "/name")};
  if (named.id.empty()) return wrong("widget_id", "is missing");
  if (named.ns.empty()) return wrong("namespace", "is missing");
  if (named.name.empty()) return wrong("name", "is missing");
  return named;
}

// In the codec's JSON 64-bit integers are strings, and a field that is 0 is absent.
Result<int64_t> size_of(const json::value& widget) {
  const std::string text = text_at(widget, "/size");
  const bool digits = !text.empty() && text.size() < 10 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  const int64_t size = digits ? std::stoll(text) : 0;
  if (size < 1 || size > size_max) return wrong("size", "must be 1 to " + std::to_string(size_max));
  return size;
}

// The ConfigMap's data, or an error that says what is wrong with the widget.
Result<json::object> data_of(const json::value& widget) {
  const auto size = size_of(widget);
  if (!size.ok()) return size.error();
  json::object data{{"size", std::to_string(*size)}};
  if (auto colour = text_at(widget, "/colour"); !colour.empty()) data["colour"] = colour;
  const auto* options = widget.get_object().if_contains("options");
  if (options == nullptr) return data;
  if (!options->is_object()) return wrong("options", "must be an object");
  for (const auto& [key, value] : options->get_object()) {
    if (!value.is_string()) return wrong("options." + std::string(key), "must be a string");
    data["option." + std::string(key)] = value;
  }
  return data;
}

json::object status_of(bool wanted, bool there, bool updated) {
  const char* health = updated ? "healthy" : wanted || there ? "progressing" : "unknown";
  const int up = updated ? 1 : 0;
  return {{"gone", !wanted && !there},
          {"health", health},
          {"desired", wanted ? 1 : 0},
          {"updated", up},
          {"ready", up},
          {"stale", wanted && there && !updated ? 1 : 0}};
}

std::string answer(json::array apply, json::array remove, json::object status) {
  return json::serialize(json::object{
      {"apply", std::move(apply)}, {"delete", std::move(remove)}, {"status", std::move(status)}});
}

class Widget {
 public:
  using roles = Roles<kind::Role>;

  // Reading a key declares it. The host refuses a key that the kind does not read: it is a typing
  // error of the operator.
  explicit Widget(Host host)
      : owner_(Settings(host).string("owner", "acme")), described_(describe()) {}

  const kind::Described& described() const { return described_; }

  Result<Named> identify(std::string_view apply) const {
    const auto widget = parse(apply);
    if (!widget.ok()) return widget.error();
    return named_in(*widget);
  }

  Result<> validate(std::string_view apply) const {
    const auto widget = parse(apply);
    if (!widget.ok()) return widget.error();
    const auto named = named_in(*widget);
    if (!named.ok()) return named.error();
    if (auto bad = kubernetes::dns_label_fault(named->ns)) return wrong("namespace", *bad);
    if (auto bad = kubernetes::dns_subdomain_fault(named->name)) return wrong("name", *bad);
    if (auto data = data_of(*widget); !data.ok()) return data.error();
    return {};
  }

  kind::Class classify(std::string_view state, std::string_view) const {
    if (state == "running") return kind::Class::apply;
    return state == "retired" ? kind::Class::remove : kind::Class::unhandled;
  }

  // Level-based: it judges the present state, not events, so it may be called again at any time.
  Result<std::string> reconcile(std::string_view input) const {
    const auto root = parse(input);
    if (!root.ok()) return root.error();
    json::array remove;
    json::value there;  // the ConfigMap's data, when there is one
    if (const auto* observed = root->get_object().if_contains("observed")) {
      if (!observed->is_array()) return wrong("observed", "must be a list");
      for (const auto& object : observed->get_array()) look(object, remove, there);
    }
    const auto* desired = root->get_object().if_contains("desired");
    if (desired == nullptr) {
      return answer({}, std::move(remove), status_of(false, !there.is_null(), false));
    }
    if (!desired->is_object()) return wrong("desired", "must be an object");
    const auto named = named_in(*desired);
    if (!named.ok()) return named.error();
    const auto data = data_of(*desired);
    if (!data.ok()) return data.error();
    return answer(render(*named, *data), {}, status_of(true, !there.is_null(), there == *data));
  }

  Result<Named> attribute(std::string_view object) const {
    const auto value = parse(object);
    if (!value.ok()) return value.error();
    Named named{text_at(*value, "/metadata/labels/widgets.acme.example~1id"),
                text_at(*value, "/metadata/namespace"), text_at(*value, "/metadata/name")};
    if (!named.id.empty() && !named.ns.empty() && !named.name.empty()) return named;
    return Error{Code::not_found, "no widget"};
  }

 private:
  static kind::Description describe() {
    kind::Description d;
    d.kind = "widget";
    d.apply_type = "acme.v1.ApplyWidget";
    d.descriptor_set = widget_descriptors();
    const std::string selector = std::string(component) + "=widget";
    d.resources = {{DAVIT_RESOURCE_ENSURED, "", "v1", "namespaces", "Namespace", false, "", {}},
                   {DAVIT_RESOURCE_OWNED, "", "v1", "configmaps", "ConfigMap", true, selector, {}}};
    // What `davit get widget` shows of each beside its id, region and state.
    d.columns = {{DAVIT_COLUMN_SPEC, "SIZE", "/size", "integer", 0},
                 {DAVIT_COLUMN_SPEC, "COLOUR", "/colour", "string", 1}};
    return d;
  }

  static void look(const json::value& object, json::array& remove, json::value& there) {
    const std::string ns = text_at(object, "/metadata/namespace"),
                      name = text_at(object, "/metadata/name");
    if (text_at(object, "/kind") != "ConfigMap" || ns.empty() || name.empty()) return;
    const auto* data = object.get_object().if_contains("data");
    there = data == nullptr ? json::value(json::object()) : *data;
    if (!text_at(object, "/metadata/deletionTimestamp").empty()) return;  // being deleted already
    remove.push_back(json::object{{"group", ""},
                                  {"version", "v1"},
                                  {"resource", "configmaps"},
                                  {"namespace", ns},
                                  {"name", name}});
  }

  json::array render(const Named& n, const json::object& data) const {
    json::object space{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", n.ns}}}};
    json::object metadata{{"name", n.name}, {"namespace", n.ns}};
    metadata["labels"] = {
        {component, "widget"}, {id_label, n.id}, {"widgets.acme.example/owner", owner_}};
    json::object map{{"apiVersion", "v1"},
                     {"kind", "ConfigMap"},
                     {"metadata", std::move(metadata)},
                     {"data", data}};
    json::array out;
    out.push_back(json::object{{"object", std::move(space)},
                               {"mode", "ensure"}});  // created when absent, never owned
    out.push_back(json::object{{"object", std::move(map)}});
    return out;
  }

  std::string owner_;
  kind::Described described_;
};

}  // namespace
}  // namespace acme

DAVIT_PLUGIN(acme::Widget, "kind_widget", DAVIT_PLUGIN_VERSION, "widgets as ConfigMaps")
