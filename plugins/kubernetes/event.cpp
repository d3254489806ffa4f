#include "event.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <davit/rfc3339.hpp>
#include <davit/utf8.hpp>

#include "fingerprint.hpp"

namespace davit::kubernetes {
namespace {

namespace json = boost::json;

constexpr size_t message_max = 1'000;  // the API server takes 1,024 bytes

// The name of an event has to be a DNS subdomain. That of an object may be more.
std::string event_name(const std::string& object, uint64_t hash) {
  constexpr size_t object_max = 253 - 17;
  std::string out = object.substr(0, object_max);
  for (char& c : out) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!plain) c = c == '.' ? '.' : '-';
  }
  // Each of its labels has to begin and to end with a letter or a digit.
  for (size_t i = 0; i < out.size(); ++i) {
    const bool edge = i == 0 || i + 1 == out.size() || out[i - 1] == '.' || out[i + 1] == '.';
    if (edge && (out[i] == '-' || out[i] == '.')) out[i] = 'x';
  }
  return out + "." + hex(hash);
}

}  // namespace

cluster::Request event_request(const EventTarget& about, const EventText& text, uint64_t hash,
                               const EventTimes& times, const EventSource& source) {
  const cluster::Resource& of = about.resource;
  json::object involved{{"apiVersion", of.group.empty() ? of.version : of.group + "/" + of.version},
                        {"kind", about.kind},
                        {"name", about.name}};
  if (!about.ns.empty()) involved["namespace"] = about.ns;
  if (!about.uid.empty()) involved["uid"] = about.uid;
  cluster::Request q;
  q.verb = DAVIT_VERB_APPLY;
  q.resource = {"", "v1", "events"};
  // Events of objects that have no namespace are kept in this one.
  q.ns = about.ns.empty() ? "default" : about.ns;
  q.name = event_name(about.name, hash);
  q.query = {{"fieldManager", source.field_manager}, {"force", "true"}};
  q.body = json::serialize(
      json::object{{"apiVersion", "v1"},
                   {"kind", "Event"},
                   {"metadata", json::object{{"name", q.name}, {"namespace", q.ns}}},
                   {"involvedObject", std::move(involved)},
                   {"type", text.warning ? "Warning" : "Normal"},
                   {"reason", text.reason},
                   {"message", shortened(text.message, message_max)},
                   {"source", json::object{{"component", source.component}}},
                   {"firstTimestamp", rfc3339(times.first_unix_ms)},
                   {"lastTimestamp", rfc3339(times.last_unix_ms)},
                   {"count", times.times}});
  return q;
}

}  // namespace davit::kubernetes
