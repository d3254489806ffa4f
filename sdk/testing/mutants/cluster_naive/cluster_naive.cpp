// A cluster in front of another one, for the tests of the cluster suite. Without the setting
// `fault` it passes everything on as it is. Each value of the setting breaks one rule, and the
// suite must fail exactly there.
#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <davit/cluster.hpp>
#include <davit/outstanding.hpp>

namespace davit {
namespace {

namespace json = boost::json;
using cluster::Request;
using cluster::Response;
using cluster::WatchRequest;
using Done = std::function<void(Response)>;

// The object in `body` without one member of its metadata.
std::string without(const std::string& body, std::string_view member) {
  boost::system::error_code bad;
  json::value v = json::parse(body, bad);
  if (bad || !v.is_object()) return body;
  if (auto* m = v.as_object().if_contains("metadata"); m != nullptr && m->is_object())
    m->as_object().erase(member);
  return json::serialize(v);
}

void set(Pairs& query, std::string_view key, std::string value) {
  for (auto& pair : query) {
    if (pair.first == key) pair.second = std::move(value);
  }
}
void drop(Pairs& query, std::string_view key) {
  std::erase_if(query, [&](const auto& pair) { return pair.first == key; });
}

// The role as a backend without the wrapper might have it, which answers as often as it likes.
struct OwnTable {
  static constexpr std::string_view id = DAVIT_CLUSTER;
  template <class T>
  static const void* vtable();
};

class Naive {
 public:
  using roles = Roles<OwnTable>;
  explicit Naive(Host host)
      : host_(host),
        next_name_(Settings(host).string("next")),
        fault_(Settings(host).string("fault", "none")) {}

  Result<> wire() {
    auto found = cluster::Client::find(host_, next_name_);
    if (!found.ok()) return found.error();
    next_ = *found;
    return {};
  }
  Result<> stop(const Op& op) {
    if (has("stops_at_once")) return {};
    for (const auto& [id, watch] : watches()) watch.cancel();
    return open_.wait(host_, op);
  }
  ~Naive() {
    for (const auto& [id, watch] : watches()) watch.cancel();
    static_cast<void>(open_.wait(host_, Op()));
  }
  bool has(std::string_view fault) const { return fault_ == fault; }

  void request(const Op& op, Request q, Done done) {
    change(q);
    const bool deaf = has("never_cancelled") || has("any_deadline");
    if (has("any_deadline")) q.deadline_ns = INT64_MAX;
    const cluster::Client client = deaf ? next_ : next_.under(op);
    client.request(q, [this, verb = q.verb, done = std::move(done),
                       ticket = open_.begin()](Response r) mutable {
      change(verb, r);
      done(std::move(r));
    });
  }
  void discover(const Op& op, const std::string& group, const std::string& version,
                const std::string& kind, Done done) {
    const std::string served = has("any_version") ? "" : version;
    next_.under(op).discover(group, served, kind, counted(std::move(done)));
  }
  void identity(const Op& op, Done done) {
    next_.under(op).identity(counted([this, done = std::move(done)](Response r) {
      if (has("another_identity")) r.body = "davit";
      done(std::move(r));
    }));
  }

  cluster::WatchHandle* watch(WatchRequest q, uint32_t credit, cluster::Watcher watcher) {
    if (has("whole_objects")) q.metadata_only = false;
    if (has("metadata_only")) q.metadata_only = true;
    if (has("watches_all_labels")) q.label_selector.clear();
    if (has("begins_anew")) q.resource_version.clear();
    if (has("no_credit")) credit = 1'000'000;
    const uintptr_t id = ++last_;
    auto ended = [this, id, told = std::move(watcher.ended), ticket = open_.begin()] {
      {
        std::lock_guard lock(mutex_);
        watches_.erase(id);
      }
      told();
      if (has("ends_twice")) told();
    };
    auto event = [this, told = std::move(watcher.event)](int32_t type, std::string_view object) {
      if (has("forgets_deletes") && type == DAVIT_WATCH_DELETED) return;
      if (has("changes_are_additions") && type == DAVIT_WATCH_MODIFIED) type = DAVIT_WATCH_ADDED;
      if (has("never_restarts") && type == DAVIT_WATCH_RESTART) return;
      told(type, object);
    };
    const auto begun = next_.watch(q, credit, {std::move(event), std::move(ended)});
    if (!begun.ok()) throw std::runtime_error(begun.error().message);
    std::lock_guard lock(mutex_);
    watches_.emplace(id, *begun);
    return reinterpret_cast<cluster::WatchHandle*>(id);
  }
  void credit(cluster::WatchHandle* handle, uint32_t more) {
    if (const auto watch = find(handle)) watch->credit(more);
  }
  void cancel(cluster::WatchHandle* handle) {
    if (const auto watch = find(handle)) watch->cancel();
  }

 private:
  // What goes to the cluster behind.
  void change(Request& q) {
    if (has("forces")) set(q.query, "force", "true");
    if (has("forgets_managers"))
      set(q.query, "fieldManager", "naive-" + std::to_string(++applied_));
    if (has("any_object_version") && q.verb != DAVIT_VERB_CREATE)
      q.body = without(q.body, "resourceVersion");
    if (has("any_uid")) q.body = without(q.body, "uid");
    if (has("carries_out_dry_runs")) drop(q.query, "dryRun");
    if (has("believes_dry_runs")) believe(q);
    if (has("no_preconditions") && q.verb == DAVIT_VERB_DELETE) q.body.clear();
    if (has("lists_all_labels")) drop(q.query, "labelSelector");
    if (has("lists_all_names")) drop(q.query, "fieldSelector");
    if (has("no_owners") && q.verb == DAVIT_VERB_APPLY) q.body = without(q.body, "ownerReferences");
    if (has("merges_nothing") && q.verb == DAVIT_VERB_MERGE) q.body = "{}";
    if (has("dances") && q.verb == "dance") q.verb = DAVIT_VERB_GET;
  }
  // A dry run of a name that is free: whether the object is valid is never asked.
  static void believe(Request& q) {
    for (const auto& [key, value] : q.query) {
      if (key == "dryRun") q.body = without(q.body, "labels");
    }
  }
  // What comes back.
  void change(const std::string& verb, Response& r) const {
    if (has("no_reason")) r.reason.clear();
    if (has("no_message")) r.message.clear();
    if (has("no_status")) r.http_status = 0;
    if (has("conflict_is_internal") && r.code == Code::aborted) r.code = Code::internal;
    if (has("taken_is_aborted") && r.code == Code::already_exists) r.code = Code::aborted;
    if (has("all_is_well") && verb == DAVIT_VERB_GET && r.code == Code::not_found)
      r.code = Code::ok;
    if (has("new_uids")) r.body = without(r.body, "uid");
  }
  Done counted(Done done) {
    return [ticket = open_.begin(), done = std::move(done)](Response r) { done(std::move(r)); };
  }
  // Copies: no lock is held while the next cluster is called.
  std::map<uintptr_t, cluster::Watch> watches() {
    std::lock_guard lock(mutex_);
    return watches_;
  }
  std::optional<cluster::Watch> find(cluster::WatchHandle* handle) {
    std::lock_guard lock(mutex_);
    const auto it = watches_.find(reinterpret_cast<uintptr_t>(handle));
    return it == watches_.end() ? std::nullopt : std::optional(it->second);
  }

  Host host_;
  std::string next_name_, fault_;
  cluster::Client next_;
  std::atomic<uintptr_t> last_{0};
  std::atomic<int> applied_{0};
  std::mutex mutex_;
  std::map<uintptr_t, cluster::Watch> watches_;  // under mutex_
  Outstanding open_;
};

template <class T>
const void* OwnTable::vtable() {
  static const auto* right = static_cast<const davit_cluster*>(cluster::Role::vtable<T>());
  static const davit_cluster table = [] {
    davit_cluster own = *right;
    own.request = [](davit_instance* i, const davit_op* op, const davit_cluster_request* q,
                     davit_cluster_done done, void* ctx) {
      if (davit::detail::object<T>(i).has("answers_twice") && op->cancelled(op) != 0) {
        Response early;
        early.code = Code::cancelled;
        const cluster::ResponseView view(early);
        done(ctx, &view.abi);
      }
      right->request(i, op, q, done, ctx);
    };
    return own;
  }();
  return &table;
}

}  // namespace
}  // namespace davit

DAVIT_PLUGIN(davit::Naive, "cluster_naive", DAVIT_PLUGIN_VERSION, "breaks one rule of a cluster")
