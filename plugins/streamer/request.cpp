#include "request.hpp"

#include <set>

#include <google/protobuf/unknown_field_set.h>

#include <davit/v1/agent.pb.h>
#include <davit/required_features.hpp>
#include <davit/utf8.hpp>

namespace davit::streamer {

namespace {

// An agent has a handful of kinds. A request with far more is a mistake.
constexpr int subscriptions_max = 64;
constexpr size_t name_shown_max = 253;

Error undecodable() {
  return {Code::invalid_argument, "the request cannot be decoded"};
}

}  // namespace

Result<std::vector<Stream::Subscription>> parse_watch(std::string_view request,
                                                      const std::string& region) {
  v1::WatchRequest message;
  if (!message.ParseFromArray(request.data(), static_cast<int>(request.size())))
    return undecodable();
  if (auto r = refuse_unknown_features(message.required_features()); !r.ok()) return r.error();
  if (message.subscriptions_size() == 0) {
    return Error{Code::invalid_argument, "names no kind", "subscriptions"};
  }
  if (message.subscriptions_size() > subscriptions_max) {
    return Error{Code::invalid_argument,
                 "more than " + std::to_string(subscriptions_max) + " of them", "subscriptions"};
  }
  std::vector<Stream::Subscription> out;
  std::set<std::string> once;
  for (const auto& s : message.subscriptions()) {
    if (!once.insert(s.kind()).second) {
      return Error{Code::invalid_argument, "kind \"" + s.kind() + "\" is named twice",
                   "subscriptions"};
    }
    if (!s.region().empty() && s.region() != region) {
      return Error{Code::unimplemented,
                   "this server does not serve region \"" + shortened(s.region(), name_shown_max) +
                       "\" in a call of region \"" + region + "\": call once for each region",
                   "subscriptions.region"};
    }
    out.push_back({{s.kind(), region},
                   {Incarnation(s.cursor().incarnation()), Version(s.cursor().version())}});
  }
  return out;
}

Result<std::vector<Stream::Subscription>> parse_ctrl_watch(const std::string& kind,
                                                           std::string_view request,
                                                           const std::string& region) {
  google::protobuf::UnknownFieldSet fields;
  if (!fields.ParseFromArray(request.data(), static_cast<int>(request.size())))
    return undecodable();
  Cursor cursor;
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& f = fields.field(i);
    if (f.number() != 2) continue;
    if (f.type() != google::protobuf::UnknownField::TYPE_VARINT) return undecodable();
    cursor.version = Version(f.varint());
  }
  return std::vector<Stream::Subscription>{{{kind, region}, cursor}};
}

Result<std::string> parse_ctrl_get(std::string_view request) {
  google::protobuf::UnknownFieldSet fields;
  if (!fields.ParseFromArray(request.data(), static_cast<int>(request.size())))
    return undecodable();
  std::string id;
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& f = fields.field(i);
    if (f.number() != 1) continue;
    if (f.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) return undecodable();
    id = f.length_delimited();
  }
  if (!valid_utf8(id)) return undecodable();
  if (id.empty()) return Error{Code::invalid_argument, "the id is empty"};
  return id;
}

}  // namespace davit::streamer
