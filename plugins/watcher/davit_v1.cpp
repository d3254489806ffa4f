// The dialect of davit.v1.AgentService/Watch.
#include <davit/v1/agent.pb.h>

#include <algorithm>

#include "batch.hpp"

namespace davit::watcher {
namespace {

Item item(v1::Record& record, const std::string& kind, const std::string& region) {
  Item out;
  sink::Change& c = out.change;
  c.key = {kind, region, std::move(*record.mutable_id())};
  c.ns = std::move(*record.mutable_namespace_());
  c.name = std::move(*record.mutable_name());
  c.version = Version(record.version());
  c.state = std::move(*record.mutable_state());
  c.annotations.assign(record.annotations().begin(), record.annotations().end());
  std::sort(c.annotations.begin(), c.annotations.end());  // a map has no order
  switch (record.change_case()) {
    case v1::Record::kApply:
      c.type = sink::ChangeType::apply;
      c.payload = Buffer::of(std::move(*record.mutable_apply()));
      break;
    case v1::Record::kDelete:
      c.type = sink::ChangeType::remove;
      // When another record has taken the name, the server sends the id alone.
      if (c.name.empty() && c.key.id.empty()) out.fault = "a delete without a name and an id";
      break;
    case v1::Record::kHold:
      c.type = sink::ChangeType::hold;
      c.payload = Buffer::of(std::move(*record.mutable_hold()));
      break;
    default:
      // A newer server may send another type of change. Touching nothing is the only safe answer.
      c.type = sink::ChangeType::hold;
      c.payload = Buffer::of("a type of change that this agent does not know");
  }
  return out;
}

std::optional<Mark::Type> mark_type(v1::Bookmark::Type type) {
  switch (type) {
    case v1::Bookmark::TYPE_UNSPECIFIED:
      return Mark::Type::progress;
    case v1::Bookmark::TYPE_BEGIN_SNAPSHOT:
      return Mark::Type::begin_snapshot;
    case v1::Bookmark::TYPE_BEGIN_TAIL:
      return Mark::Type::begin_tail;
    case v1::Bookmark::TYPE_SNAPSHOT_END:
      return Mark::Type::snapshot_end;
    default:
      return std::nullopt;
  }
}

rpc::End end_of(const v1::Frame::End& end) {
  const bool known = end.code() > DAVIT_OK && end.code() <= DAVIT_UNAUTHENTICATED;
  return {known ? static_cast<Code>(end.code()) : Code::unknown,
          end.message(),
          {{"retry-after-ms", std::to_string(end.retry_after_ms())}}};
}

Result<Batch> decode(const Buffer& message, const std::string& kind, const std::string& region) {
  v1::Frame frame;
  if (!frame.ParseFromArray(message.view().data(), static_cast<int>(message.size()))) {
    return Error{Code::internal, "the peer sent a frame that cannot be read"};
  }
  if (frame.kind() != kind) {
    return Error{Code::internal, "the peer sent a frame of kind \"" + frame.kind() + "\""};
  }
  if (!frame.region().empty() && frame.region() != region) {
    return Error{Code::internal, "the peer sent a frame of region \"" + frame.region() + "\""};
  }
  Batch out;
  if (frame.has_end()) out.end = end_of(frame.end());
  out.items.reserve(static_cast<size_t>(frame.records_size()));
  for (auto& record : *frame.mutable_records()) out.items.push_back(item(record, kind, region));
  if (!frame.has_bookmark()) return out;
  const auto& b = frame.bookmark();
  const auto type = mark_type(b.type());
  if (!type) return out;  // a newer server's type: doing without a bookmark is always safe
  out.mark = Mark{*type, {Incarnation(b.at().incarnation()), Version(b.at().version())}};
  for (const auto& link : b.history())
    out.mark->history.push_back({Incarnation(link.incarnation()), Version(link.version())});
  if (*type == Mark::Type::snapshot_end) out.mark->live_count = b.live_count();
  return out;
}

}  // namespace

Dialect davit_v1(const std::string& kind, const std::string& region, const std::string& agent) {
  Dialect out;
  out.path = "davit.v1.AgentService/Watch";
  out.request = [kind, agent](Cursor from) {
    v1::WatchRequest request;
    auto* subscription = request.add_subscriptions();
    subscription->set_kind(kind);
    subscription->mutable_cursor()->set_incarnation(from.incarnation.value());
    subscription->mutable_cursor()->set_version(from.version.value());
    request.set_agent(agent);
    request.set_software(std::string("davit ") + DAVIT_PLUGIN_VERSION);
    return Buffer::of(request.SerializeAsString());
  };
  out.decode = [kind, region](const Buffer& message) { return decode(message, kind, region); };
  return out;
}

}  // namespace davit::watcher
