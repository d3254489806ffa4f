// What operators do, and strangers with kubectl.
#include "world.hpp"

#include <davit/v1/operator.pb.h>

#include <filesystem>

namespace davit::simulation {

namespace {

// What the server answered; answers of all methods that change something begin alike.
std::string said(const std::string& answer) {
  v1::ApplyResponse response;
  if (!response.ParseFromString(answer) || response.outcomes_size() == 0) return "done";
  const auto& o = response.outcomes(0);
  return o.outcome() + (o.version() == 0 ? "" : " @" + std::to_string(o.version())) +
         (o.message().empty() ? "" : ": " + o.message());
}

}  // namespace

json::object World::spec(const std::string& kind, uint64_t number) {
  const Name name = name_of(kind, number);
  json::object o{{"workspace_id", "ws"}, {"project_id", "p"}, {"environment_id", "e"}};
  if (kind == "cilium_network_policy") {
    o = {{"k8s_namespace", name.ns}, {"k8s_name", name.name}};
    o["policy"] = json::parse(
        R"({"apiVersion":"cilium.io/v2","kind":"CiliumNetworkPolicy","spec":{"description":")" +
        std::to_string(changes_) + R"(","endpointSelector":{"matchLabels":{"a":"b"}}}})");
    return o;
  }
  o["image"] = "registry.example/app:" + std::to_string(changes_);
  o["replicas"] = 1 + fate_.below(3);
  o["cpu_millicores"] = "100";
  o["memory_mib"] = "64";
  if (kind == "sentinel") {
    o["k8s_name"] = name.name;
  } else {
    o["k8s_namespace"] = name.ns;
    o["k8s_name"] = name.name;
    o["app_id"] = "a";
    o["port"] = 8080;
  }
  return o;
}

Name World::name_of(const std::string& kind, uint64_t number) {
  const std::string n = std::to_string(number);
  if (kind == "sentinel") return {kind, "sentinel", "edge-" + n};
  return {kind, "shop", (kind == "deployment" ? "app-" : "net-") + n};
}

// One more than there are, under which another region's object stands.
const Name& World::contested_name() {
  static const Name name = name_of("deployment", names_of_a_kind);
  return name;
}

uint64_t World::some_number(const std::string& kind) {
  return kind == "deployment" && fate_.chance(0.05) ? names_of_a_kind
                                                    : fate_.below(names_of_a_kind);
}

void World::apply_something() {
  const std::string kind = kinds()[fate_.below(kinds().size())].kind;
  if (kind == cleared_ && now() < cleared_until_) return;
  const uint64_t number = some_number(kind);
  const std::string where = some_region(kind);
  apply(kind, number, where);
  if (!fate_.chance(0.1)) return;
  // Somebody else, at the same moment.
  fate_.chance(0.3) ? remove(kind, number, where) : apply(kind, number, where);
}

// Of sentinels, which are several objects, two regions that want the same ones may each get some.
std::string World::some_region(const std::string& kind) {
  return rivals() && kind != "sentinel" && fate_.chance(0.3) ? other_region : region;
}

void World::apply(const std::string& kind, uint64_t number, const std::string& where) {
  ++changes_;
  v1::ApplyRequest request;
  request.set_request_id("change-" + std::to_string(changes_));
  auto& document = *request.add_documents();
  document.set_kind(kind);
  document.set_region(where);
  // Now and then another record wants the name: refused while the first one lives.
  const std::string id = kind.substr(0, 1) + std::to_string(number) +
                         (fate_.chance(0.2) ? "x" + std::to_string(fate_.below(3)) : "");
  document.set_id(id);
  json::object s = spec(kind, number);
  s[kind + "_id"] = id;
  document.set_spec_json(json::serialize(s));
  std::string how;
  if (kind == "deployment" && fate_.chance(0.1)) {
    document.set_state("archived");
    how = " archived";
  }
  if (fate_.chance(0.1)) {
    (*document.mutable_annotations())["davit.dev/pause"] = "true";
    how += " paused";
  }
  last_apply_ = request.SerializeAsString();
  if (where != region) how += " of " + where;
  ask("Apply", last_apply_, "apply " + kind + " " + id + how);
}

// Who has had no answer asks again; others may have been there in between.
void World::repeat_something() {
  if (!last_apply_.empty()) ask("Apply", last_apply_, "the last apply again");
}

void World::delete_something() {
  const std::string kind = kinds()[fate_.below(kinds().size())].kind;
  remove(kind, some_number(kind), some_region(kind));
}

void World::remove(const std::string& kind, uint64_t number, const std::string& where) {
  v1::DeleteRequest request;
  auto& key = *request.add_keys();
  key.set_kind(kind);
  key.set_region(where);
  key.set_id(kind.substr(0, 1) + std::to_string(number));
  ask("Delete", request.SerializeAsString(), "delete " + kind + " " + key.id());
}

// Goes while no agent looks: more than may be pruned at once, or what a snapshot that breaks off
// must not pass over.
void World::clear_out() {
  if (!server_.up) return;
  using std::chrono::seconds;
  for (auto& agent : agents_) {
    crash_agent(*agent);
    agent->up_at = now() + snapshots_share_begin + seconds(1 + fate_.below(5));
  }
  delete_of_a_kind();
  people_only_until_ = now() + snapshots_share_begin + seconds(8);
  if (fate_.chance(0.8)) plan(snapshots_share_begin, [this] { purge(); });
}

// All of a kind, or some; for a while nobody works on that kind, which would hide what was missed.
void World::delete_of_a_kind() {
  cleared_ = kinds()[fate_.below(kinds().size())].kind;
  cleared_until_ = now() + std::chrono::seconds(30);
  const double share = fate_.chance(0.5) ? 1 : 0.3;
  v1::DeleteRequest request;
  for (const auto& [name, written] : history_.all()) {
    const Written& last = History::now(written);
    if (name.kind != cleared_ || !last.live || !fate_.chance(share)) continue;
    auto& key = *request.add_keys();
    key.set_kind(name.kind);
    key.set_region(name.region);
    key.set_id(last.id);
  }
  ask("Delete", request.SerializeAsString(),
      "delete of " + std::to_string(request.keys_size()) + " " + cleared_);
}

// Of an agent that says no cursor the retention is the protection: no word to purge then.
void World::purge() {
  if (scene_ == Scene::ctrl) return;
  ask("Maintain", v1::MaintainRequest().SerializeAsString(), "purge");
}

void World::ask(const std::string& method, std::string request, const std::string& what) {
  if (!server_.up) return;
  link_.ask("davit.v1.OperatorService/" + method, std::move(request),
            [this, what, changes = method != "Maintain"](const Result<std::string>& r) {
              if (changes && r.ok()) check_answer(*r, what);
              story_.tell(what + ": " + (r.ok() ? said(*r) : r.error().message));
            });
}

// What somebody is told was done is in the store.
void World::check_answer(const std::string& answer, const std::string& what) {
  v1::ApplyResponse response;
  if (!response.ParseFromString(answer)) return;
  for (const auto& o : response.outcomes()) {
    const bool done = o.type() == v1::Outcome::TYPE_CREATED ||
                      o.type() == v1::Outcome::TYPE_CHANGED ||
                      o.type() == v1::Outcome::TYPE_DELETED;
    if (done && !history_.seen(Version(o.version())))
      story_.fault(what + ": said to be " + o.outcome() + " @" + std::to_string(o.version()) +
                   ", and nothing was committed so");
  }
}

// An edit of what pods are made of: another image, or, without one, a variable that takes its value
// from elsewhere, which beside one of ours makes an object invalid.
static std::string other_template(const json::value& replica_set, const std::string& image) {
  json::value spec = replica_set.at("spec").at("template");
  json::object& container = spec.at("spec").at("containers").as_array().at(0).as_object();
  if (!image.empty()) {
    container["image"] = image;
  } else {
    json::object& variable = container.at("env").as_array().at(0).as_object();
    variable.erase("value");
    variable["valueFrom"] = {{"fieldRef", {{"fieldPath", "spec.nodeName"}}}};
  }
  return json::serialize(json::object{{"spec", json::object{{"template", std::move(spec)}}}});
}

// Somebody with kubectl.
void World::meddle() {
  const Kind& kind = kinds()[fate_.below(kinds().size())];
  std::vector<Name> there;
  for (const auto& [name, written] : history_.all()) {
    if (name.kind == kind.kind && name.name != contested_name().name) there.push_back(name);
  }
  if (there.empty()) return;
  const Name& name = there[fate_.below(there.size())];
  if (fate_.chance(0.3)) return keep_or_put_back(kind, name);
  cluster::Request q;
  q.resource = kind.resource;
  q.ns = name.ns;
  q.name = name.name;
  q.verb = fate_.chance(0.4) ? DAVIT_VERB_DELETE : DAVIT_VERB_MERGE;
  bool edited = false;
  if (q.verb == DAVIT_VERB_MERGE) {
    q.body = name.kind == "cilium_network_policy" ? R"({"spec":{"description":"meddled"}})"
                                                  : R"({"spec":{"replicas":9}})";
    if (name.kind == "deployment") {
      const json::value live = object(kind.resource, name.ns, name.name);
      edited = !stamp_of(live).id.empty() && fate_.chance(0.5);
      // Never the same twice: of two edits in one second that say the same, nobody can tell.
      const std::string image = "meddled:" + std::to_string(++meddled_);
      if (edited) q.body = other_template(live, fate_.chance(0.5) ? image : "");
    }
  }
  const auto r = call(q);
  if (r.code != Code::ok) return;
  story_.tell("somebody sends " + q.verb + " of " + display(name));
  ++changed_by_people_[name];
  if (edited) restart_pod(name);
}

// Somebody has saved an object in a file, and creates it from there when it is gone: with the
// stamps of then, perhaps of a record that has been deleted since.
void World::keep_or_put_back(const Kind& kind, const Name& name) {
  const json::value live = object(kind.resource, name.ns, name.name);
  if (stamp_of(live)) {
    kept_[name] = live;
    return;
  }
  const auto kept = kept_.find(name);
  if (kept == kept_.end() || !text_at(live, "/metadata/name").empty()) return;
  json::value body = kept->second;
  body.as_object().erase("status");
  json::object& metadata = body.at("metadata").as_object();
  for (const char* of_server :
       {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"})
    metadata.erase(of_server);
  cluster::Request q;
  q.verb = DAVIT_VERB_CREATE;
  q.resource = kind.resource;
  q.ns = name.ns;
  q.body = json::serialize(body);
  if (call(q).code != Code::ok) return;
  const Stamp stamp = stamp_of(body);
  story_.tell("somebody puts back " + display(name) + " as it was of " + stamp.id + " @" +
              to_string(stamp.made_of.version));
  ++changed_by_people_[name];
  put_back_[name.kind].push_back(now());
}

// So that there is one of the template as it is now.
void World::restart_pod(const Name& name) {
  cluster::Request q;
  q.verb = DAVIT_VERB_DELETE;
  q.resource = {"", "v1", "pods"};
  q.ns = name.ns;
  for (const auto& pod : list(q.resource, name.ns)) {
    q.name = text_at(pod, "/metadata/name");
    if (!q.name.starts_with(name.name + "-")) continue;
    story_.tell("somebody deletes the pod " + q.name);
    call(q);
    return;
  }
}

static void remove_store(const std::string& file) {
  for (const char* part : {"", "-wal", "-shm"}) std::filesystem::remove(file + part);
}

// The file and its log.
static void copy_store(const std::string& from, const std::string& to) {
  remove_store(to);
  for (const char* part : {"", "-wal"}) {
    if (std::filesystem::exists(from + part)) std::filesystem::copy_file(from + part, to + part);
  }
}

// While the server is stopped, or as a snapshot of its disk: its incarnation goes on then, and the
// backup knows the beginning of it.
void World::back_up() {
  if (!server_.up) return;
  if (fate_.chance(0.5)) {
    crash_server();
    plan(Time(0), [this] { start_server(); });
  }
  backup_ = Backup{folder_.path() + "/backup.db", history_};
  copy_store(folder_.path() + "/davit.db", backup_->file);
  story_.tell("the store is backed up at " + to_string(history_.head()));
}

void World::restore() {
  restore_from(fate_.chance(0.8) ? backup_ : std::nullopt);
}

// Without a backup the store is empty. What was committed since has never been.
void World::restore_from(const std::optional<Backup>& backup) {
  crash_server();
  plan(std::chrono::milliseconds(fate_.below(5'000)), [this] { start_server(); });
  const std::string file = folder_.path() + "/davit.db";
  remove_store(file);
  history_.closed();
  lost_.push_back({std::move(history_), restored_head_});
  history_ = History();
  if (backup) {
    history_ = backup->history;
    copy_store(backup->file, file);
  }
  history_.closed();
  restored_head_ = history_.head();
  before_restore_ = history_.incarnations();
  story_.tell("the store is restored to " + to_string(restored_head_));
  storage_.begin_anew();
  stored_.clear();
  named_.clear();
  last_apply_.clear();
  link_.expect_snapshots();
  for (auto& agent : agents_) agent->heard.clear();
}

// Another region's agent works in the same cluster, and has a name that ours are told, too: their
// record is parked.
void World::contest_name() {
  cluster::Request q;
  q.verb = DAVIT_VERB_CREATE;
  q.resource = {"apps", "v1", "replicasets"};
  q.ns = "shop";
  const std::string& name = contested_name().name;
  q.body = R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":")" + name + R"(",
      "labels":{"app.kubernetes.io/managed-by":"krane","app.kubernetes.io/component":"deployment",
      "davit.dev/region":"us","davit.dev/kind":"deployment"},
      "annotations":{"davit.dev/id":"us-1","davit.dev/record":"shop/)" +
           name + R"(",
      "davit.dev/version":"1"}},"spec":{"replicas":1,
      "selector":{"matchLabels":{"c":"d"}},"template":{"metadata":{"labels":{"c":"d"}},
      "spec":{"containers":[{"name":"c","image":"i"}]}}}})";
  if (call(q).code != Code::ok) throw std::runtime_error("the other region's object is refused");
}

void World::leave_contested_name() {
  cluster::Request q;
  q.verb = DAVIT_VERB_DELETE;
  q.resource = {"apps", "v1", "replicasets"};
  q.ns = "shop";
  q.name = contested_name().name;
  call(q);
  contested_ = false;
  story_.tell("region us gives up shop/" + q.name);
}

// What an agent shows as orphaned goes by a person's word, where the rules ask for one: the store
// has another history now, or too much would go at once.
void World::remove_orphans() {
  for (const auto& agent : agents_) {
    for (const Issue& issue : agent->issues) {
      const auto says = [&](const char* why) {
        return issue.reason.find(why) != std::string::npos;
      };
      const bool by_rule = says("history") || says("does not know") || says("percent");
      if (issue.condition != DAVIT_ISSUE_ORPHANED || !by_rule) continue;
      const Name record{issue.kind, issue.ns, issue.name, agent->region};
      if (says("history") && named_.contains({record, issue.id}))
        story_.fault(display(record) + " is said to be orphaned, and this store has named it");
      cluster::Request q;
      q.verb = DAVIT_VERB_DELETE;
      q.ns = issue.ns;
      bool any = false;
      for (const auto& [resource, name] : objects_of(record)) {
        q.resource = resource;
        q.name = name;
        any = call(q).code == Code::ok || any;
      }
      if (any) story_.tell("an operator removes orphan " + display(record));
    }
  }
}

}  // namespace davit::simulation
