// What must hold, the whole time and at the end.
#include "world.hpp"

namespace davit::simulation {

void World::before(const cluster::Request& q, const std::string& text, bool late) {
  if (kind_of(q.resource) == nullptr) return;
  const json::value object = json::parse(text);
  if (object.is_null()) return;
  if (q.verb == DAVIT_VERB_DELETE) before_delete(q, stamp_of(object));
  if (q.verb == DAVIT_VERB_APPLY)
    before_apply(stamp_of(json::parse(q.body)), stamp_of(object), late);
}

// What an agent asked for before it crashed may come late; nobody else takes an object back.
void World::before_apply(const Stamp& wanted, const Stamp& there, bool late) {
  if (late || wanted.id != there.id || wanted.version >= there.version) return;
  story_.fault(display(there.name) + " @" + std::to_string(there.version) + " is taken back to @" +
               std::to_string(wanted.version));
}

void World::before_delete(const cluster::Request& q, const Stamp& there) {
  if (!there) return story_.fault("a stranger's object is deleted: " + q.ns + "/" + q.name);
  const std::string what = display(there.name) + " @" + std::to_string(there.version);
  story_.tell("delete of " + what);
  if (!history_.died_after(there.name, there.id, there.version))
    story_.fault(what + " is deleted, and was never dead since");
}

void World::after(const cluster::Request& q, const cluster::Response& r) {
  if (q.verb != DAVIT_VERB_APPLY || kind_of(q.resource) == nullptr || r.code != Code::ok) return;
  const Stamp stamp = stamp_of(json::parse(q.body));
  if (!stamp) return;
  story_.tell("apply of " + display(stamp.name) + " @" + std::to_string(stamp.version));
  uint64_t& applied = applied_[stamp.name];
  applied = std::max(applied, stamp.version);
}

// A cursor says that everything up to it was applied, or is held.
void World::check_cursor(const Progress& p) {
  for (const auto& kind : p.kinds) {
    for (const auto& [name, written] : history_.all()) {
      if (name.kind != kind.kind) continue;
      const Written& last = History::now(written);
      if (!last.live || last.held || last.version > kind.applied.version) continue;
      if (applied_[name] < last.version) {
        story_.fault("the cursor of " + name.kind + " is at " +
                     std::to_string(kind.applied.version) + ", and " + display(name) + " @" +
                     std::to_string(last.version) + " was never applied");
      }
    }
  }
}

std::string World::difference() {
  for (const auto& kind : kinds()) {
    cluster::Request q;
    q.verb = DAVIT_VERB_GET;
    q.resource = kind.resource;
    const json::value all = json::parse(call(q).body);
    std::map<Name, json::value> objects;
    for (const auto& item : all.at("items").as_array()) {
      if (const Stamp stamp = stamp_of(item); stamp && stamp.name.kind == kind.kind)
        objects[stamp.name] = item;
    }
    for (const auto& [name, written] : history_.all()) {
      if (name.kind != kind.kind) continue;
      const auto found = objects.find(name);
      const auto left = difference(name, History::now(written),
                                   found == objects.end() ? json::value() : found->second);
      if (!left.empty()) return display(name) + " " + left;
    }
  }
  if (object({"apps", "v1", "replicasets"}, "others", "stranger").at("spec") != stranger_)
    return "a stranger's object was changed";
  return {};
}

std::string World::difference(const Name& name, const Written& wanted, const json::value& object) {
  if (wanted.held) return {};
  if (!wanted.live) return object.is_null() ? "" : "is dead and still there";
  if (object.is_null()) return "is missing";
  const Stamp stamp = stamp_of(object);
  if (stamp.version != wanted.version) {
    return "is at " + std::to_string(stamp.version) + " and not at " +
           std::to_string(wanted.version);
  }
  const json::value spec = json::parse(wanted.spec);
  if (name.kind == "cilium_network_policy") {
    return text_at(object, "/spec/description") == text_at(spec, "/policy/spec/description")
               ? ""
               : "was meddled with";
  }
  if (text_at(object, "/spec/template/spec/containers/0/image") != text_at(spec, "/image"))
    return "has another image";
  if (object.at("spec").at("replicas").to_number<int>() != spec.at("replicas").to_number<int>())
    return "has other replicas";
  return {};
}

json::value World::object(const cluster::Resource& r, const std::string& ns,
                          const std::string& name) {
  cluster::Request q;
  q.verb = DAVIT_VERB_GET;
  q.resource = r;
  q.ns = ns;
  q.name = name;
  return json::parse(call(q).body);
}

cluster::Response World::call(const cluster::Request& q) {
  std::optional<cluster::Response> out;
  cluster_.request(q, [&](cluster::Response r) { out = std::move(r); });
  host_.run();
  if (!out) throw std::runtime_error("the cluster did not answer");
  return *out;
}

}  // namespace davit::simulation
