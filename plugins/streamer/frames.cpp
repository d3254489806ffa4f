#include "frames.hpp"

#include <davit/v1/agent.pb.h>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <davit/rpc.hpp>
#include <utility>

#include "added.hpp"
#include "wire/fields.hpp"

namespace davit::streamer {

namespace {

// A map has no order of its own. The same message shall have the same bytes.
std::string serialized(const google::protobuf::MessageLite& message) {
  std::string out(message.ByteSizeLong(), '\0');
  google::protobuf::io::ArrayOutputStream stream(out.data(), static_cast<int>(out.size()));
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeWithCachedSizes(&coded);
  return out;
}

void fill_record(const Change& c, v1::Record* out) {
  out->set_id(c.id);
  out->set_namespace_(c.ns);
  out->set_name(c.name);
  out->set_version(c.version.value());
  switch (c.verb) {
    case Verb::apply:
      out->set_apply(c.body);
      break;
    case Verb::remove:
      out->set_delete_(true);
      break;
    case Verb::hold:
      out->set_hold(c.body);
      break;
  }
  out->set_state(c.state);
  for (const auto& [key, value] : c.annotations) (*out->mutable_annotations())[key] = value;
}

// The state messages of all kinds have the same fields: 1 apply, 2 delete (both messages), 3
// version.
constexpr uint32_t apply_field = 1, version_field = 3;

void put_version(std::string& out, Version version) {
  wire::put_integer(out, version_field, version.value());
}

// `more`: bytes that readers merge into the message.
std::string apply_state(std::string_view message, std::string_view more, Version version) {
  std::string out;
  out.reserve(message.size() + more.size() + 16);
  wire::put_head(out, apply_field, message.size() + more.size());
  out += message;
  out += more;
  put_version(out, version);
  return out;
}

// The error of a record that a Krane agent would refuse.
Error refused(Error why) {
  if (retryable(why.code)) return why;
  if (!why.where.empty()) why.message = std::exchange(why.where, {}) + ": " + why.message;
  why.code = Code::failed_precondition;
  return why;
}

}  // namespace

Buffer encode_frame(const Topic& topic, std::span<const Change* const> changes) {
  v1::Frame frame;
  frame.set_kind(topic.kind);
  frame.mutable_records()->Reserve(static_cast<int>(changes.size()));
  for (const Change* c : changes) fill_record(*c, frame.add_records());
  return Buffer::of(serialized(frame));
}

Buffer encode_bookmark(std::string_view kind, const Pager::Todo& mark, const History& history) {
  v1::Frame frame;
  frame.set_kind(kind.data(), kind.size());
  auto* b = frame.mutable_bookmark();
  switch (mark.mark) {
    case Pager::Mark::plain:
      b->set_type(v1::Bookmark::TYPE_UNSPECIFIED);
      break;
    case Pager::Mark::begin_snapshot:
      b->set_type(v1::Bookmark::TYPE_BEGIN_SNAPSHOT);
      break;
    case Pager::Mark::begin_tail:
      b->set_type(v1::Bookmark::TYPE_BEGIN_TAIL);
      break;
    case Pager::Mark::snapshot_end:
      b->set_type(v1::Bookmark::TYPE_SNAPSHOT_END);
      break;
  }
  b->mutable_at()->set_incarnation(mark.cursor.incarnation.value());
  b->mutable_at()->set_version(mark.cursor.version.value());
  b->set_live_count(mark.live_count);
  for (const Cursor& link : history) {
    v1::Cursor* out = b->add_history();
    out->set_incarnation(link.incarnation.value());
    out->set_version(link.version.value());
  }
  return Buffer::of(frame.SerializeAsString());
}

Buffer encode_end(std::string_view kind, const Error& error) {
  v1::Frame frame;
  frame.set_kind(kind.data(), kind.size());
  frame.mutable_end()->set_code(static_cast<int32_t>(error.code));
  frame.mutable_end()->set_message(rpc::End::of(error).message);
  frame.mutable_end()->set_retry_after_ms(static_cast<uint32_t>(error.retry_after.count()));
  return Buffer::of(frame.SerializeAsString());
}

std::string encode_get(const Change* change, Cursor at) {
  v1::GetResponse out;
  if (change != nullptr) fill_record(*change, out.mutable_record());
  out.mutable_at()->set_incarnation(at.incarnation.value());
  out.mutable_at()->set_version(at.version.value());
  return serialized(out);
}

Result<std::string> encode_state(const Classifier::Kind& kind, const Change& change,
                                 Version version) {
  if (change.verb == Verb::apply) return apply_state(change.body, {}, version);
  auto json = kind.client.delete_message({change.id, change.ns, change.name});
  if (!json.ok()) return json.error();
  auto made = kind.schema.from_json(kind.client.description().ctrl_v1->state_type, *json);
  if (!made.ok()) return made.error();
  put_version(*made, version);
  return made;
}

Result<std::string> encode_krane_state(const Classifier::Kind& kind, const Change& change,
                                       Version version) {
  if (change.verb != Verb::apply) return encode_state(kind, change, version);
  const std::string& type = kind.client.description().apply_type;
  std::string decoded;
  if (change.json.empty()) {
    auto json = kind.schema.to_json(type, change.body);
    if (!json.ok()) return json.error();
    decoded = std::move(*json);
  }
  const std::string& json = change.json.empty() ? decoded : change.json;
  auto told = kind.client.apply_message(json);
  if (!told.ok()) return refused(told.error());
  if (told->empty()) return apply_state(change.body, {}, version);
  if (const auto beyond = added(json, *told)) {
    const auto more = kind.additions->encoded(kind.schema, type, *beyond);
    if (more.ok()) return apply_state(change.body, *more, version);
  }
  auto body = kind.schema.from_json(type, *told);
  if (!body.ok()) return body.error();
  return apply_state(*body, {}, version);
}

Buffer encode_state_bookmark(Version version) {
  std::string out;
  put_version(out, version);
  return Buffer::of(std::move(out));
}

}  // namespace davit::streamer
