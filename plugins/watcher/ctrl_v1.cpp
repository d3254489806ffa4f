// The dialect of ctrl.v1.ClusterService. The watches of all kinds have the same fields: State
// {apply = 1, delete = 2, version = 3}. Only the names differ, and the kind's description has them.
#include <boost/json.hpp>

#include <mutex>

#include "batch.hpp"
#include "kubernetes/json.hpp"
#include "wire/fields.hpp"

namespace davit::watcher {
namespace {

namespace json = boost::json;

// The fields of the kind's delete message that hold namespace and name. They are found in a delete
// message that the kind makes from marker names. A kind whose objects all live in one namespace has
// no namespace field.
struct DeleteShape {
  std::string ns_field, name_field;
};

Result<DeleteShape> learn(const kind::Client& kind) {
  static constexpr std::string_view ns_mark = "marked-namespace", name_mark = "marked-name";
  auto text = kind.delete_message({"marked-id", std::string(ns_mark), std::string(name_mark)});
  if (!text.ok()) return text.error();
  boost::system::error_code bad;
  const json::value value = json::parse(*text, bad);
  DeleteShape out;
  if (const auto* body = bad ? nullptr : kubernetes::object_at(value, "/delete")) {
    for (const auto& [field, content] : *body) {
      if (kubernetes::text_of(&content) == ns_mark) out.ns_field = field;
      if (kubernetes::text_of(&content) == name_mark) out.name_field = field;
    }
  }
  if (out.name_field.empty()) {
    return Error{Code::internal, "its delete message does not carry the name"};
  }
  return out;
}

// The shape, which is learned when the first delete comes.
class LearnedShape {
 public:
  Result<DeleteShape> of(const kind::Client& kind) {
    {
      const std::lock_guard lock(mutex_);
      if (shape_) return *shape_;
    }
    auto learned = learn(kind);
    if (!learned.ok()) return learned;
    const std::lock_guard lock(mutex_);
    shape_ = *learned;
    return learned;
  }

 private:
  std::mutex mutex_;
  std::optional<DeleteShape> shape_;
};

// Reads the messages of one kind, on its pool.
struct Reader {
  kind::Client kind;
  Schema schema;
  std::string region;
  std::shared_ptr<LearnedShape> learned = std::make_shared<LearnedShape>();

  Result<Item> apply(std::string_view payload, Version version) const {
    Item out;
    out.change.type = sink::ChangeType::apply;
    out.change.key = {kind.kind(), region, {}};
    out.change.version = version;
    auto text = schema.to_json(kind.description().apply_type, payload);
    auto named = text.ok() ? kind.identify(*text) : Result<Named>(text.error());
    if (!named.ok()) {
      if (text.ok() && retryable(named.error().code)) return named.error();
      out.fault = named.error().where.empty() ? named.error().message
                                              : named.error().where + ": " + named.error().message;
      return out;
    }
    out.change.key.id = named->id;
    out.change.ns = named->ns;
    out.change.name = named->name;
    out.change.payload = Buffer::of(std::string(payload));
    return out;
  }

  Result<Item> remove(std::string_view state, Version version) const {
    const auto shape = learned->of(kind);
    if (!shape.ok()) return shape.error();
    Item out;
    out.change.type = sink::ChangeType::remove;
    out.change.key = {kind.kind(), region, {}};
    out.change.version = version;
    auto text = schema.to_json(kind.description().ctrl_v1->state_type, state);
    boost::system::error_code bad;
    const json::value value = text.ok() ? json::parse(*text, bad) : json::value();
    if (const auto* body = bad ? nullptr : kubernetes::object_at(value, "/delete")) {
      if (!shape->ns_field.empty()) out.change.ns = kubernetes::text_in(body, shape->ns_field);
      out.change.name = kubernetes::text_in(body, shape->name_field);
    }
    if (out.change.name.empty())
      out.fault = text.ok() ? "a delete without a name" : text.error().message;
    return out;
  }

  Result<Batch> decode(const Buffer& message) const {
    std::optional<std::string_view> applied, removed;
    Version version{};
    const bool whole = wire::each_field(message.view(), [&](const wire::Field& f) {
      if (f.number == 1) applied = f.bytes;
      if (f.number == 2) removed = f.bytes;
      if (f.number == 3) version = Version(f.integer);
    });
    if (!whole) return Error{Code::internal, "the peer sent a state that cannot be read"};
    Batch out;
    if (!applied && !removed) {
      out.mark =
          Mark{Mark::Type::progress, {Incarnation(), version}, std::nullopt};  // "move your cursor"
      return out;
    }
    auto item = applied ? apply(*applied, version) : remove(message.view(), version);
    if (!item.ok()) return item.error().in("kind " + kind.kind());
    out.items.push_back(std::move(*item));
    return out;
  }
};

}  // namespace

Result<Dialect> ctrl_v1(const kind::Client& kind, const Schema& schema, const std::string& region,
                        const std::string& agent) {
  const auto& names = kind.description().ctrl_v1;
  if (!names || names->watch.empty() || names->get.empty()) {
    return Error{Code::failed_precondition,
                 "kind \"" + kind.kind() + "\" is not on the ctrl.v1 wire"};
  }
  Dialect out;
  out.path = "ctrl.v1.ClusterService/" + names->watch;
  out.metadata = {{"x-davit-agent", agent.empty() ? "davit" : agent}};
  out.bookmarks = false;
  out.request = [region](Cursor from) {
    std::string request;
    wire::put_bytes(request, 1, region);
    wire::put_integer(request, 2, from.version.value());
    return Buffer::of(std::move(request));
  };
  out.get_path = "ctrl.v1.ClusterService/" + names->get;
  out.get_request = [](const std::string& id) {
    std::string request;
    wire::put_bytes(request, 1, id);
    return request;
  };
  out.pool = kind.instance();
  out.decode = [reader = Reader{kind, schema, region}](const Buffer& m) {
    return reader.decode(m);
  };
  return out;
}

}  // namespace davit::watcher
