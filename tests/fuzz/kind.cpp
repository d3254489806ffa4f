// One kind, whichever: what it does with any message that the server accepted, any object that a
// cluster shows and any report. The claims are those of abi/kind.h.
#include <boost/json.hpp>

#include "choice.hpp"
#include "kinds.hpp"
#include "require.hpp"

namespace {

namespace json = boost::json;
using namespace davit;

const fuzz::Kind& subject() {
  static const fuzz::Kinds kinds(FUZZ_KINDS);
  return kinds.all().front();
}

json::value parsed(std::string_view text) {
  boost::system::error_code bad;
  json::value out = json::parse(text, bad);
  return bad ? json::value() : out;
}

std::string input_of(const Named& named, const json::value& desired, const json::value& observed) {
  json::object input;
  input["record"] = {{"id", named.id},
                     {"region", "us-east-1"},
                     {"namespace", named.ns},
                     {"name", named.name},
                     {"version", "17"}};
  if (!desired.is_null()) input["desired"] = desired;
  input["observed"] = observed.is_array() ? observed : json::array();
  input["now_unix_ms"] = 1'700'000'000'000;
  return json::serialize(input);
}

// Reconciles, and looks at what came out.
json::value reconcile(const std::string& input) {
  const auto out = subject().client.reconcile(input);
  if (!fuzz::sound(out, "reconcile", input).ok()) return {};
  const auto again = subject().client.reconcile(input);
  fuzz::require(again.ok() && *again == *out, "reconcile is a function of its input", input);
  json::value value = parsed(*out);
  fuzz::require(value.is_object() && value.get_object().contains("status"),
                "reconcile gives a status", *out);
  return value;
}

// What was rendered belongs to the record, and seen in the cluster it is no reason to apply
// anything else.
void look_at_rendered(const Named& named, const json::value& desired, const json::value& first) {
  json::array observed;
  for (const auto& item : first.at("apply").as_array()) {
    const json::value& object = item.at("object");
    if (const auto* mode = item.as_object().if_contains("mode");
        mode == nullptr || *mode == "apply") {
      observed.push_back(object);
      const auto owner = subject().client.attribute(json::serialize(object));
      fuzz::no_bug(owner, "attribute");
      fuzz::require(owner.ok() && owner->size() == 1 && owner->front().ns == named.ns &&
                        owner->front().name == named.name,
                    "what is rendered for a record is attributed to it", json::serialize(object));
    }
  }
  reconcile(input_of(named, desired, observed));
  const json::value gone = reconcile(input_of(named, nullptr, observed));
  fuzz::require(observed.empty() || (gone.is_object() && !gone.at("delete").as_array().empty()),
                "what is rendered can be deleted again", json::serialize(observed));
}

// As a peer on ctrl.v1 is told it: the same record, as good a one, and not told in yet other
// fields.
void look_at_told(std::string_view apply, const Named& named, bool valid) {
  const auto& client = subject().client;
  const auto told = client.apply_message(apply);
  if (!fuzz::sound(told, "apply_message", apply).ok() || told->empty()) return;
  const auto same = client.identify(*told);
  fuzz::require(same.ok() && *same == named, "what is told is the same record", *told);
  fuzz::require(!valid || client.validate(*told).ok(), "what is told of a valid one is valid",
                *told);
  const auto again = client.apply_message(*told);
  fuzz::require(again.ok() && again->empty(), "what is told is told as it is", *told);
  const auto encodes = [&](std::string_view json) {
    return subject().schema.from_json(client.description().apply_type, std::string(json)).ok();
  };
  fuzz::require(!encodes(apply) || encodes(*told), "what is told can be encoded", *told);
}

void on_apply(std::string_view apply) {
  const auto& client = subject().client;
  for (const char* state : {"running", "archived", "standby", "", "deleted"})
    fuzz::no_bug(client.classify(state, apply), "classify");
  const auto named = client.identify(apply);
  const auto valid = client.validate(apply);
  fuzz::sound(named, "identify", apply);
  if (named.ok() && client.description().ctrl_v1) look_at_told(apply, *named, valid.ok());
  if (!fuzz::sound(valid, "validate", apply).ok()) return;
  fuzz::require(named.ok(), "what is valid has a name", apply);
  const json::value desired = parsed(apply);
  const json::value first = reconcile(input_of(*named, desired, {}));
  fuzz::require(first.is_object(), "what is valid can be reconciled", apply);
  look_at_rendered(*named, desired, first);
  if (client.description().ctrl_v1) {
    fuzz::require(fuzz::no_bug(client.delete_message(*named), "delete_message").ok(),
                  "what is valid can be deleted");
  }
}

void on_bytes(std::string_view bytes) {
  const auto text = subject().schema.to_json(subject().client.description().apply_type, bytes);
  if (fuzz::no_bug(text, "to_json").ok()) on_apply(*text);
}

// A pair [desired, observed], so that mutation moves objects about.
void on_observed(std::string_view text) {
  const json::value value = parsed(text);
  if (!value.is_object()) return;
  const auto& object = value.get_object();
  const auto* desired = object.if_contains("desired");
  const auto* observed = object.if_contains("observed");
  const Named named{"d_1", "acme", "web"};
  reconcile(input_of(named, desired == nullptr ? json::value() : *desired,
                     observed == nullptr ? json::value() : *observed));
}

void on_report(std::string_view report) {
  const auto& client = subject().client;
  if (!client.description().ctrl_v1 || client.description().ctrl_v1->report.empty()) return;
  const auto reported = client.from_report(report);
  if (!fuzz::sound(reported, "from_report", report).ok()) return;
  const auto text = client.to_report(reported->first, reported->second);
  if (!fuzz::no_bug(text, "to_report").ok()) return;
  fuzz::no_bug(subject().schema.from_json(client.description().ctrl_v1->report_type, *text),
               "from_json");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto [entry, rest] = fuzz::choose(data, size);
  if (entry == "apply") on_apply(rest);
  if (entry == "bytes") on_bytes(rest);
  if (entry == "observed") on_observed(rest);
  if (entry == "input") reconcile(std::string(rest));
  if (entry == "report") on_report(rest);
  if (entry == "object") fuzz::no_bug(subject().client.attribute(rest), "attribute");
  return 0;
}
