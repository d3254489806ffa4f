#include "meaning.hpp"

#include <algorithm>
#include <array>

#include <boost/json.hpp>

#include <davit/utf8.hpp>

#include "object.hpp"

namespace davit::applier {
namespace {

constexpr size_t message_bytes_max = 600;

bool says(const cluster::Response& r, std::string_view part) {
  return r.message.find(part) != std::string::npos;
}

// How Kubernetes' validation says that a field cannot change. A FieldValueInvalid shows the value,
// which may hold any text, and ends with the reason. A FieldValueForbidden shows no value.
constexpr std::array immutable_endings = {": field is immutable", ": may not change once set"};
constexpr std::array immutable_beginnings = {
    "Forbidden: field is immutable", "Forbidden: updates to statefulset spec",
    "Forbidden: pod updates may not change fields", "Forbidden: spec is immutable after creation"};

bool cannot_change(const Cause& c) {
  if (c.field.empty()) return false;
  if (c.reason == "FieldValueInvalid") {
    return std::any_of(immutable_endings.begin(), immutable_endings.end(),
                       [&](std::string_view end) { return c.message.ends_with(end); });
  }
  return c.reason == "FieldValueForbidden" &&
         std::any_of(immutable_beginnings.begin(), immutable_beginnings.end(),
                     [&](std::string_view begin) { return c.message.starts_with(begin); });
}

// The causes name each field of another manager that the apply would change. A 409 without such
// causes says that the object is not in the requested state, or is another object.
bool is_of_field_managers(const cluster::Response& r) {
  const auto causes = causes_of(r);
  return std::any_of(causes.begin(), causes.end(),
                     [](const Cause& c) { return c.reason == "FieldManagerConflict"; });
}

Meaning conflict(const cluster::Response& r, bool force) {
  if (r.reason == "AlreadyExists" || r.code == Code::already_exists) {
    // The name is free again soon.
    return says(r, "object is being deleted") ? Meaning::retry : Meaning::exists;
  }
  if (!is_of_field_managers(r)) return Meaning::changed;
  return force ? Meaning::retry : Meaning::refused;
}

// A namespace or definition that is being deleted refuses new objects. The record may be meant for
// its successor.
bool is_going(const cluster::Response& r) {
  if (r.message.ends_with("while custom resource definition is terminating")) return true;
  const auto causes = causes_of(r);
  return std::any_of(causes.begin(), causes.end(),
                     [](const Cause& c) { return c.reason == "NamespaceTerminating"; });
}

// The texts of the authorizer, and of an admission plugin that has not read its objects yet. An API
// server that has just started answers either to requests that it accepts later.
bool is_of_a_right(const cluster::Response& r) {
  return (says(r, " is forbidden: User \"") && says(r, "\" cannot ")) ||
         r.message.ends_with("not yet ready to handle request");
}

Meaning forbidden(const cluster::Response& r) {
  if (is_going(r)) return Meaning::retry;
  return is_of_a_right(r) ? Meaning::no_right : Meaning::refused;
}

Meaning unprocessable(const cluster::Response& r) {
  const auto causes = causes_of(r);
  const bool immutable =
      !causes.empty() && std::all_of(causes.begin(), causes.end(), cannot_change);
  return immutable ? Meaning::immutable : Meaning::refused;
}

}  // namespace

Meaning meaning(const cluster::Response& r, bool force) {
  if (r.code == Code::ok) return Meaning::fine;
  switch (r.http_status) {
    case 404:
      return Meaning::absent;
    case 409:
      return conflict(r, force);
    case 401:
    case 408:
    case 410:
    case 429:
      return Meaning::retry;
    case 403:
      return forbidden(r);
    case 422:
      return unprocessable(r);
    default:
      break;
  }
  if (r.http_status >= 400 && r.http_status < 500) return Meaning::refused;
  if (r.http_status == 0) {  // the cluster plugin itself refused, or nobody answered
    if (r.code == Code::not_found) return Meaning::absent;
    if (r.code == Code::already_exists) return Meaning::exists;
    if (r.code == Code::invalid_argument) return Meaning::refused;
  }
  return Meaning::retry;
}

std::vector<Cause> causes_of(const cluster::Response& refusal) {
  boost::system::error_code bad;
  const json::value status = json::parse(refusal.body, bad);
  if (bad) return {};
  const json::value* all = status.find_pointer("/details/causes", bad);
  if (bad || !all->is_array()) return {};
  std::vector<Cause> out;
  for (const auto& cause : all->get_array()) {
    const json::object* c = cause.if_object();
    if (c != nullptr)
      out.push_back({text_in(*c, "reason"), text_in(*c, "field"), text_in(*c, "message")});
  }
  return out;
}

bool refused_by_validation(const cluster::Response& refusal) {
  if (refusal.http_status != 422) return false;
  const auto causes = causes_of(refusal);
  return !causes.empty() && std::all_of(causes.begin(), causes.end(), [](const Cause& c) {
    return !c.field.empty() && c.reason.starts_with("FieldValue");
  });
}

bool would_be_accepted(const cluster::Response& answer) {
  const Meaning m = meaning(answer, true);
  return m == Meaning::fine || m == Meaning::exists;
}

bool names_webhook(const cluster::Response& r) {
  return says(r, "admission webhook \"") || says(r, "failed calling webhook \"");
}

std::string describe(const cluster::Response& r) {
  std::string out = r.http_status == 0 ? "no answer" : std::to_string(r.http_status);
  if (!r.reason.empty()) out += " " + r.reason;
  if (!r.message.empty()) out += ": " + shortened(r.message, message_bytes_max);
  return out;
}

}  // namespace davit::applier
