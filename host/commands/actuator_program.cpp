#include "actuator_program.hpp"

#include <cstdio>
#include <ctime>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <davit/code_names.hpp>

namespace davit::host {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr std::string_view protocol = "davit.dev/actuator/v1";
constexpr double ms_per_second = 1000;
// The answer must be written before the deadline.
constexpr milliseconds margin{2'000};

std::string member(const json::object& object, const char* key) {
  const json::value* found = object.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

// "2026-11-28T17:10:00.000Z".
std::optional<std::chrono::system_clock::time_point> time_of(const std::string& text) {
  std::tm t{};
  int ms = 0;
  char zone = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d.%3d%c", &t.tm_year, &t.tm_mon, &t.tm_mday,
                  &t.tm_hour, &t.tm_min, &t.tm_sec, &ms, &zone) != 8 ||
      zone != 'Z')
    return std::nullopt;
  t.tm_year -= 1900;
  t.tm_mon -= 1;
  return std::chrono::system_clock::from_time_t(::timegm(&t)) + milliseconds(ms);
}

Error no_request(const std::string& message) {
  return {Code::invalid_argument,
          "this is no request of " + std::string(protocol) + ": " + message};
}

bool is_of_cluster(const Error& error) {
  return error.where.starts_with("metadata");
}

// Of what this program asks others, these say nothing of the Cluster.
Code for_controller(const Error& error) {
  if (is_of_cluster(error)) return error.code;
  switch (error.code) {
    case Code::unimplemented:
    case Code::invalid_argument:
    case Code::not_found:
    case Code::out_of_range:
      return Code::failed_precondition;
    case Code::deadline_exceeded:
    case Code::cancelled:
    case Code::aborted:
      return Code::unavailable;
    case Code::unknown:
      return Code::internal;
    default:
      return error.code;
  }
}

json::object object_of(const Error& error, const std::string& reason) {
  const Code code = for_controller(error);
  json::object out{{"code", std::string(word_of(code))},
                   {"message", error.message.empty() ? "it failed" : error.message}};
  if (is_of_cluster(error)) out["where"] = error.where;
  if (!reason.empty()) out["reason"] = reason;
  constexpr double usual_seconds = 2;
  if (code == Code::unavailable) {
    out["retryAfterSeconds"] = error.retry_after.count() == 0
                                   ? usual_seconds
                                   : static_cast<double>(error.retry_after.count()) / ms_per_second;
  }
  return out;
}

}  // namespace

std::string ActuatorRequest::text_at(const std::string& pointer) const {
  json::error_code error;
  const json::value* found = cluster.find_pointer(pointer, error);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

ActuatorAnswer ActuatorAnswer::wait(milliseconds time, std::string progress) {
  ActuatorAnswer out;
  out.requeue_after = time;
  out.progress = std::move(progress);
  return out;
}

ActuatorAnswer ActuatorAnswer::failed(Error error, std::string reason) {
  ActuatorAnswer out;
  out.error = std::move(error);
  out.error_reason = std::move(reason);
  return out;
}

Result<ActuatorRequest> read_actuator_request(const std::string& text) {
  json::error_code bad;
  const json::value value = json::parse(text, bad);
  if (bad || !value.is_object()) return no_request("no JSON object on standard input");
  const json::object& object = value.get_object();
  if (member(object, "apiVersion") != protocol) return no_request("apiVersion is another");
  ActuatorRequest out;
  const std::string operation = member(object, "operation");
  if (operation != "reconcile" && operation != "delete")
    return no_request("operation is neither reconcile nor delete");
  out.remove = operation == "delete";
  out.ns = member(object, "namespace");
  out.name = member(object, "name");
  out.uid = member(object, "uid");
  if (out.uid.empty() ||
      out.uid.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL"
                                "MNOPQRSTUVWXYZ-._") != std::string::npos)
    return no_request("uid is missing or has a character that no uid has");
  const auto deadline = time_of(member(object, "deadline"));
  if (!deadline) return no_request("deadline is no time");
  out.deadline =
      std::chrono::steady_clock::now() +
      std::chrono::duration_cast<milliseconds>(*deadline - std::chrono::system_clock::now()) -
      margin;
  const json::value* cluster = object.if_contains("cluster");
  if (cluster == nullptr || !cluster->is_object()) return no_request("cluster is no object");
  out.cluster = *cluster;
  return out;
}

std::string actuator_answer_text(const ActuatorAnswer& answer) {
  json::object out;
  if (answer.error) out["error"] = object_of(*answer.error, answer.error_reason);
  if (!answer.error && answer.requeue_after.count() > 0)
    out["requeueAfterSeconds"] = static_cast<double>(answer.requeue_after.count()) / ms_per_second;
  if (!answer.progress.empty()) out["progress"] = answer.progress;
  if (!answer.events.empty()) {
    json::array events;
    for (const ActuatorEvent& event : answer.events) {
      events.push_back(json::object{{"type", event.warning ? "Warning" : "Normal"},
                                    {"reason", event.reason},
                                    {"message", event.message}});
    }
    out["events"] = std::move(events);
  }
  return json::serialize(out);
}

}  // namespace davit::host
