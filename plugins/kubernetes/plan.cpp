#include "plan.hpp"

#include <boost/json/serialize.hpp>

#include "fields.hpp"

namespace davit::kubernetes {
namespace json = boost::json;

Result<Input> read_input(std::string_view text) {
  auto root = parse_object(text, "the input of reconcile");
  if (!root.ok()) return root.error();
  Input input{std::move(*root)};
  const auto* observed = input.root.get_object().if_contains("observed");
  if (observed != nullptr && !observed->is_array())
    return Error{Code::invalid_argument, "must be a list", "observed"};
  const auto* desired = input.root.get_object().if_contains("desired");
  if (desired != nullptr && !desired->is_null() && !desired->is_object())
    return Error{Code::invalid_argument, "must be an object", "desired"};
  return input;
}

const json::array& Input::observed() const {
  static const json::array none;
  const auto* list = array_at(root, "/observed");
  return list == nullptr ? none : *list;
}

const json::object* Input::desired() const {
  return object_at(root, "/desired");
}

namespace {

json::object ensured(json::object metadata) {
  json::object space{
      {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", std::move(metadata)}};
  return {{"object", std::move(space)}, {"mode", "ensure"}};
}

}  // namespace

json::object ensure_namespace(const std::string& name) {
  return ensured({{"name", name}});
}

json::object ensure_namespace(const std::string& name, const Labels& names) {
  json::object own;
  names.add_managed(own, labels::component_namespace);
  return ensured({{"name", name}, {"labels", std::move(own)}});
}

json::object apply_step(json::object object) {
  return {{"object", std::move(object)}, {"mode", "apply"}};
}

json::object removal(std::string_view group, std::string_view version, std::string_view resource,
                     std::string_view ns, std::string_view name) {
  return {{"group", group},
          {"version", version},
          {"resource", resource},
          {"namespace", ns},
          {"name", name}};
}

void add_reason(std::string& message, std::string_view more) {
  if (!more.empty()) message.append(message.empty() ? "" : "; ").append(more);
}

json::object status_of_deleted(bool gone, int64_t ready, int64_t stale, json::array children,
                               std::string_view reason) {
  std::string message = gone ? "" : "being deleted";
  add_reason(message, reason);
  return {{"gone", gone},
          {"health", gone ? "unknown" : "progressing"},
          {"desired", 0},
          {"updated", 0},
          {"ready", ready},
          {"stale", stale},
          {"message", message},
          {"detail", json::object{}},
          {"children", std::move(children)}};
}

std::string answer(json::array apply, json::array remove, json::object status,
                   int64_t look_again_ms) {
  return json::serialize(json::object{{"apply", std::move(apply)},
                                      {"delete", std::move(remove)},
                                      {"status", std::move(status)},
                                      {"look_again_ms", look_again_ms}});
}

}  // namespace davit::kubernetes
