#include "wanted.hpp"

#include <boost/json.hpp>

namespace davit::recorder {

namespace json = boost::json;

namespace {

using Number = std::optional<int64_t>;

// The number in the kind's answer.
Number wanted_in(const std::string& output) {
  json::error_code fault;
  const json::value plan = json::parse(output, fault);
  if (fault) return std::nullopt;
  const json::value* wanted = plan.find_pointer("/status/desired", fault);
  if (wanted == nullptr || !wanted->is_number()) return std::nullopt;
  // A kind may answer with a fraction, or with a number beyond int64.
  const auto number = wanted->to_number<int64_t>(fault);
  if (fault) return std::nullopt;
  return number;
}

}  // namespace

Result<Number> wanted_of(const kind::Client& kind, const Schema& schema, const Record& record) {
  std::string text = record.json;
  if (text.empty()) {
    auto made = schema.to_json(kind.description().apply_type, record.payload);
    if (!made.ok()) return Number();
    text = std::move(*made);
  }
  json::error_code fault;
  json::value desired = json::parse(text, fault);
  if (fault) return Number();
  json::object annotations;
  for (const auto& [key, value] : record.annotations) annotations[key] = value;
  // With nothing observed, the kind's status has all that the record asks for. Without "features"
  // the kind cannot ask for more.
  const json::object input{{"record",
                            {{"id", record.key.id},
                             {"region", record.key.region},
                             {"namespace", record.ns},
                             {"name", record.name},
                             {"version", to_string(record.version)},
                             {"state", record.state},
                             {"annotations", std::move(annotations)}}},
                           {"desired", std::move(desired)},
                           {"observed", json::array()},
                           {"now_unix_ms", 0}};
  auto output = kind.reconcile(json::serialize(input));
  if (output.ok()) return wanted_in(*output);
  if (retryable(output.error().code)) return output.error().in("kind " + kind.kind());
  return Number();
}

}  // namespace davit::recorder
