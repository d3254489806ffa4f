#include "world.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace davit::applier::test {
namespace {

const char* const region = "eu";

const davit_codec* through() {
  static const davit_codec codec = {
      sizeof(davit_codec),
      [](const davit_host*, davit_bytes, const davit_str*, size_t, const davit_schema** out,
         davit_error*) {
        static const char schema = 0;
        *out = reinterpret_cast<const davit_schema*>(&schema);
        return DAVIT_OK;
      },
      [](const davit_schema*, davit_str, davit_bytes message, const davit_sink* sink,
         davit_error* e) {
        if (view(message).substr(0, 1) != "{")
          return fill(e, {Code::invalid_argument, "not a message"});
        sink->write(sink->ctx, message);
        return DAVIT_OK;
      },
      [](const davit_schema*, davit_str, davit_str text, const davit_sink* sink, davit_error*) {
        sink->write(sink->ctx, bytes(view(text)));
        return DAVIT_OK;
      },
      [](const davit_schema*, davit_str, davit_bytes a, davit_bytes b) {
        return view(a) == view(b) ? 1 : 0;
      }};
  return &codec;
}

std::unique_ptr<testing::Instance> load(const char* path, testing::TestHost& host) {
  auto loaded = testing::Loaded::open(path);
  EXPECT_TRUE(loaded.ok()) << loaded.error().message;
  return std::make_unique<testing::Instance>(loaded->plugin(), host);
}

void up(testing::Instance& instance) {
  const auto r = instance.up();
  ASSERT_TRUE(r.ok()) << r.error().message;
}

}  // namespace

World::World(const testing::Config& applier, const testing::Config& deployments)
    : host_(
          "applier",
          [&] {
            testing::Config c = applier;
            c.set({"cluster", "front"});
            c.set({"status", "reporter"});
            return c;
          }(),
          testing::TestHost::Time::manual),
      cluster_host_(host_, "cluster", {{"pod_ready_ms", 500}}),
      kind_host_(host_, "deployment", deployments),
      test_host_(host_, "test") {
  host_.add_service(DAVIT_CODEC, through());
  cluster_ = load(CLUSTER_MEMORY, cluster_host_);
  up(*cluster_);
  kind_ = load(KIND_DEPLOYMENT, kind_host_);
  up(*kind_);
  kind_front_ = std::make_unique<KindFront>(kind_->ref(DAVIT_KIND));
  host_.add_role("deployment", DAVIT_KIND, reinterpret_cast<davit_instance*>(kind_front_.get()),
                 KindFront::table());
  host_.add_role("reporter", DAVIT_STATUS_SINK, reinterpret_cast<davit_instance*>(this),
                 sink::StatusRole::vtable<World>());
  client_ = cluster::Client(cluster_->ref(DAVIT_CLUSTER));
  front_ = std::make_unique<Front>(client_);
  host_.add_role("front", DAVIT_CLUSTER, reinterpret_cast<davit_instance*>(front_.get()),
                 Front::table());
  host_.add_role("vault", DAVIT_SECRETS, reinterpret_cast<davit_instance*>(&vault),
                 secrets::Role::vtable<Vault>());
  start();
}

World::~World() {
  stop();
  pumped([this] { EXPECT_TRUE(cluster_->stop().ok()); });
}

void World::pumped(const std::function<void()>& blocking) {
  std::atomic<bool> done{false};
  std::thread thread([&] {
    blocking();
    done = true;
  });
  while (!done) {
    front().let_go();
    host_.run();
  }
  thread.join();
}

void World::start() {
  applier_ = load(APPLIER, host_);
  up(*applier_);
  closed_ = false;
  sink::Source source;
  source.wake = [] {};
  source.settled = [this](Version version, sink::Outcome outcome) { outcomes_[version] = outcome; };
  source.closed = [this] { closed_ = true; };
  auto opened = sink::ChangeClient(applier_->ref(DAVIT_CHANGE_SINK))
                    .open("deployment", region, std::move(source));
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  stream_ = *opened;
  host_.run();
}

void World::stop() {
  stream_.close();
  host_.run();
  EXPECT_TRUE(closed_);
  pumped([this] {
    const auto r = applier_->stop();
    EXPECT_TRUE(r.ok()) << r.error().message;
  });
  applier_->destroy();
}

void World::restart() {
  stop();
  outcomes_.clear();
  statuses.clear();
  issues.clear();
  start();
}

std::string World::check(testing::Config config) {
  config.set({"cluster", "front"});
  config.set({"status", "reporter"});
  testing::TestHost host(host_, "applier-check", config);
  auto checked = load(APPLIER, host);
  EXPECT_TRUE(checked->create().ok());
  EXPECT_TRUE(checked->wire().ok());
  const auto r = checked->check();
  return r.ok() ? std::string() : r.error().message;
}

void World::begin(bool snapshot, Incarnation incarnation, Version at, History before) {
  if (snapshot || !before.empty()) before.push_back({incarnation, 1'000'000});
  EXPECT_TRUE(stream_.begin({snapshot, {incarnation, at}, std::move(before)}).ok());
  host_.run();
}

void World::word(Incarnation incarnation, Version at) {
  EXPECT_TRUE(stream_.bookmark({false, std::nullopt, {incarnation, at}}).ok());
  host_.run();
}

void World::quiet() {
  EXPECT_TRUE(stream_.bookmark({false, std::nullopt, {}, true}).ok());
  host_.run();
}

void World::begin_ctrl_v1() {
  EXPECT_TRUE(stream_.begin({true, {}, {}}).ok());
  host_.run();
}

void World::offer_change(sink::ChangeType type, const std::string& name, const std::string& ns,
                         Version version, std::string payload, const std::string& id,
                         const ApplyOptions& o) {
  sink::Change c;
  c.type = type;
  c.key = {"deployment", region, id};
  c.ns = ns;
  c.name = name;
  c.version = version;
  if (!payload.empty()) c.payload = Buffer::of(std::move(payload));
  c.state = o.state;
  c.annotations = o.annotations;
  ASSERT_TRUE(stream_.offer(c));
  host_.run();
}

void World::apply(const std::string& name, Version version, const ApplyOptions& o) {
  const std::string id = o.id.empty() ? "d_" + name : o.id;
  json::object message{{"k8s_namespace", o.ns},
                       {"k8s_name", name},
                       {"workspace_id", o.workspace},
                       {"project_id", "p"},
                       {"environment_id", "e"},
                       {"deployment_id", id},
                       {"app_id", "a"},
                       {"image", o.image},
                       {"replicas", o.replicas},
                       {"cpu_millicores", std::to_string(o.cpu)},
                       {"memory_mib", "128"},
                       {"port", 8080}};
  if (o.autoscaling) {
    message.erase("replicas");
    message["autoscaling"] = json::object{{"min_replicas", 1}, {"max_replicas", 3}};
  }
  if (!o.secrets.empty()) {
    json::object ciphertexts;
    for (const auto& [variable, ciphertext] : o.secrets) ciphertexts[variable] = ciphertext;
    message["encrypted_environment_variables"] = json::object{{"secrets", ciphertexts}};
  }
  offer_change(sink::ChangeType::apply, name, o.ns, version, json::serialize(message), id, o);
}

void World::garbage(const std::string& name, Version version) {
  offer_change(sink::ChangeType::apply, name, "acme", version, "\x01\x02", "d_" + name);
}
void World::remove(const std::string& name, Version version, bool with_id) {
  offer_change(sink::ChangeType::remove, name, "acme", version, {},
               with_id ? "d_" + name : std::string());
}
void World::remove_record(const std::string& id, const std::string& name, Version version) {
  offer_change(sink::ChangeType::remove, name, name.empty() ? "" : "acme", version, {}, id);
}
void World::hold(const std::string& name, Version version) {
  offer_change(sink::ChangeType::hold, name, "acme", version, "paused by an operator", "d_" + name);
}

void World::end(std::optional<uint64_t> live_count, Version at) {
  EXPECT_TRUE(stream_.bookmark({true, live_count, {1, at}}).ok());
  host_.run();
}

std::string World::outcome(Version version) const {
  static const char* const names[] = {"", "done", "parked", "held", "abandoned"};
  const auto it = outcomes_.find(version);
  return it == outcomes_.end() ? "" : names[static_cast<int>(it->second)];
}

void World::issue(const std::string&, const Issue& i) {
  if (i.condition.empty()) {
    issues.erase(i.name);
    reasons.erase(i.name);
    troubled.erase(i.id);
  } else {
    issues[i.name] = i.condition;
    reasons[i.name] = i.reason;
    if (!i.id.empty()) troubled.insert(i.id);
  }
}

cluster::Response World::call(const std::string& verb, const std::string& resource,
                              const std::string& ns, const std::string& name,
                              const std::string& body, Pairs query) {
  cluster::Request q;
  q.verb = verb;
  q.resource = {resource == "replicasets" ? "apps" : "", "v1", resource};
  if (resource == "horizontalpodautoscalers") q.resource = {"autoscaling", "v2", resource};
  q.ns = ns;
  q.name = name;
  q.body = body;
  q.query = std::move(query);
  std::optional<cluster::Response> out;
  client_.request(q, [&](cluster::Response r) { out = std::move(r); });
  host_.run();
  if (!out) {
    ADD_FAILURE() << "the cluster did not answer";
    return {};
  }
  return *out;
}

void World::stranger(const std::string& name, const std::string& labels,
                     const std::string& annotations) {
  call(DAVIT_VERB_CREATE, "namespaces", "", "",
       R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme"}})");
  json::object pod_labels = json::parse(labels).as_object();
  pod_labels["a"] = "b";
  const json::object selector{{"matchLabels", {{"a", "b"}}}};
  const json::object pods{{"metadata", {{"labels", std::move(pod_labels)}}},
                          {"spec", json::parse(R"({"containers":[{"name":"c","image":"i"}]})")}};
  const json::object made{{"apiVersion", "apps/v1"},
                          {"kind", "ReplicaSet"},
                          {"metadata",
                           {{"name", name},
                            {"labels", json::parse(labels)},
                            {"annotations", json::parse(annotations)}}},
                          {"spec", {{"replicas", 9}, {"selector", selector}, {"template", pods}}}};
  const auto r = call(DAVIT_VERB_CREATE, "replicasets", "acme", "", json::serialize(made));
  ASSERT_EQ(r.code, Code::ok) << r.message;
}

json::value World::replica_set(const std::string& name, const std::string& ns) {
  const auto r = call(DAVIT_VERB_GET, "replicasets", ns, name, "");
  return r.code == Code::ok ? json::parse(r.body) : json::value();
}

std::string World::replica_sets() {
  const json::value all = json::parse(call(DAVIT_VERB_GET, "replicasets", "", "", "").body);
  std::set<std::string> names;
  for (const auto& item : all.at("items").as_array())
    names.insert(std::string(item.at_pointer("/metadata/name").as_string()));
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : " ") + name;
  return out;
}

int64_t World::replicas(const std::string& name) {
  const json::value rs = replica_set(name);
  return rs.is_null() ? -1 : rs.at_pointer("/spec/replicas").to_number<int64_t>();
}

}  // namespace davit::applier::test
