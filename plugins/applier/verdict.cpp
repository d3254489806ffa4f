#include "verdict.hpp"

#include <davit/utf8.hpp>

namespace davit::applier {
namespace {

constexpr size_t message_bytes_max = 600;

bool says(const cluster::Response& r, std::string_view part) {
  return r.message.find(part) != std::string::npos;
}

Meaning conflict(const cluster::Response& r, bool force) {
  if (r.reason == "AlreadyExists" || r.code == Code::already_exists) {
    // A name that is on its way out is free again soon.
    return says(r, "being deleted") ? Meaning::retry : Meaning::exists;
  }
  return force ? Meaning::retry : Meaning::refused;
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
    // A namespace on its way out refuses new objects; the record may be meant for its successor.
    case 403:
      return says(r, "being terminated") ? Meaning::retry : Meaning::refused;
    case 422:
      return says(r, "immutable") ? Meaning::immutable : Meaning::refused;
    default:
      break;
  }
  if (r.http_status >= 400 && r.http_status < 500) return Meaning::refused;
  if (r.http_status == 0) {  // the cluster plugin itself said no, or nobody answered
    if (r.code == Code::not_found) return Meaning::absent;
    if (r.code == Code::already_exists) return Meaning::exists;
    if (r.code == Code::invalid_argument) return Meaning::refused;
  }
  return Meaning::retry;
}

bool overloaded(const cluster::Response& r) {
  if (r.http_status == 0) return r.code == Code::unavailable || r.code == Code::deadline_exceeded;
  if (r.http_status == 429) return true;
  return r.http_status > 500 || (r.http_status == 500 && r.retry_after.count() > 0);
}

std::string describe(const cluster::Response& r) {
  std::string out = r.http_status == 0 ? "no answer" : std::to_string(r.http_status);
  if (!r.reason.empty()) out += " " + r.reason;
  if (!r.message.empty()) out += ": " + shortened(r.message, message_bytes_max);
  return out;
}

}  // namespace davit::applier
