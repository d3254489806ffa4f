#include "hub.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "kubernetes/json.hpp"

namespace davit::federation {
namespace {

// Of a definition, what read_definition reads: schemas are large.
void reduce_definition(json::object& object) {
  json::object meta, spec;
  if (const auto* from = kubernetes::object_in(object, "metadata")) {
    for (const char* key : {"name", "uid", "resourceVersion", "deletionTimestamp", "annotations"})
      if (const auto* value = member(*from, key)) meta[key] = *value;
  }
  if (auto* annotations = meta.contains("annotations") ? meta["annotations"].if_object() : nullptr)
    annotations->erase("kubectl.kubernetes.io/last-applied-configuration");
  if (const auto* from = kubernetes::object_in(object, "spec")) {
    for (const char* key : {"group", "names", "scope", "versions"})
      if (const auto* value = member(*from, key)) spec[key] = *value;
    if (auto* versions = spec.contains("versions") ? spec["versions"].if_array() : nullptr) {
      for (json::value& version : *versions)
        if (version.is_object()) version.get_object().erase("schema");
    }
  }
  object = json::object{{"metadata", std::move(meta)}, {"spec", std::move(spec)}};
}

}  // namespace

Hub::Hub(Host host, Configuration configuration, cluster::Client upstream,
         cluster::Client downstream, Outstanding& outstanding)
    : configuration_(std::move(configuration)),
      around_{host,
              host.strand(),
              configuration_.limits,
              std::move(upstream),
              std::move(downstream),
              outstanding,
              [this] { show_health(); },
              std::make_shared<Holds>(host)},
      definitions_(reduce_definition),
      resources_(host.gauge("davit_federation_resources", "Resources that take part")),
      faults_gauge_(host.gauge("davit_federation_faulty_definitions",
                               "Definitions that should take part and cannot")) {}

void Hub::start() {
  around_.strand.post([self = shared_from_this()] {
    if (self->stopped_) return;
    const auto& c = self->configuration_;
    auto& around = self->around_;
    around.holds->load();
    self->pairing_ = std::make_shared<Pairing>(
        around.host, around.strand, around.outstanding,
        Pairing::Side{"upstream \"" + c.upstream + "\"", around.upstream},
        Pairing::Side{"downstream \"" + c.downstream + "\"", around.downstream},
        [hub = self.get()] { hub->paired(); });
    self->pairing_->start();
    self->show_health();
  });
}

void Hub::paired() {
  if (pairing_->done() && !std::exchange(begun_, true)) {
    for (const Rules& rules : configuration_.resources) begin(rules);
    watch_definitions();
    claim();
  }
  show_health();
}

void Hub::claim() {
  const Configuration& c = configuration_;
  const bool named = !c.site.robot_name.empty() && !c.claim_namespace.empty();
  if (!named || around_.rehearses || pairing_->downstream().empty()) return;
  claimant_ = std::make_shared<Claimant>(
      around_.host, around_.strand, around_.outstanding, around_.upstream,
      Claimant::Name{c.site.robot_name, c.claim_namespace, pairing_->downstream()},
      [this] { show_health(); });
  claimant_->start();
}

void Hub::stop() {
  around_.strand.post([self = shared_from_this(), ticket = around_.outstanding.begin()] {
    self->stopped_ = true;
    if (self->pairing_) self->pairing_->close();
    if (self->claimant_) self->claimant_->close();
    if (self->definitions_watch_) self->definitions_watch_->close();
    for (const auto& [key, syncer] : self->syncers_) syncer->close();
    self->syncers_.clear();
  });
}

void Hub::watch_definitions() {
  if (configuration_.definitions == "none") return;
  cluster::WatchRequest request;
  request.resource = {"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
  definitions_watch_ = std::make_shared<controller::Watched>(around_.strand, around_.outstanding);
  const auto& side =
      configuration_.definitions == "upstream" ? around_.upstream : around_.downstream;
  definitions_watch_->open(
      side, request, around_.limits.watch_credit,
      [this](int32_t type, std::string_view object) { definition_event(type, object); });
}

void Hub::definition_event(int32_t type, std::string_view object) {
  for (const std::string& key : definitions_.event(type, object))
    take(controller::split_key(key).second);
  show_health();
}

// What the definition of this name says now.
void Hub::take(const std::string& name) {
  const auto same = [&](const Rules& r) { return r.name == name; };
  if (std::ranges::any_of(configuration_.resources, same)) return;  // the configuration says how
  Definition read;
  if (const auto text = definitions_.find(controller::key_of("", name)))
    read = read_definition(configuration_.site, json::parse(*text).as_object());
  if (read.fault.empty()) {
    faults_.erase(name);
  } else if (std::exchange(faults_[name], read.fault) != read.fault) {
    around_.host.error("a definition cannot take part",
                       {{"definition", name}, {"reason", read.fault}});
  }
  faults_gauge_.set(static_cast<double>(faults_.size()));
  const auto running = running_.find(name);
  const bool runs = running != running_.end();
  if (runs && read.rules && running->second == *read.rules) return;
  if (runs) end(name);
  if (read.rules) begin(*read.rules);
}

void Hub::begin(const Rules& rules) {
  running_[rules.name] = rules;
  resources_.set(static_cast<double>(running_.size()));
  around_.host.info("a resource takes part", {{"resource", rules.name},
                                              {"version", rules.resource.version},
                                              {"selector", rules.selector}});
  Rules with_origin = rules;
  if (rules.shares_target()) {
    with_origin.origin =
        rules.source() == EndOf::upstream ? pairing_->upstream() : pairing_->downstream();
  }
  std::vector<std::string> namespaces = configuration_.namespaces;
  if (namespaces.empty() || !rules.namespaced) namespaces = {""};
  for (const std::string& ns : namespaces) {
    auto& syncer = syncers_[{rules.name, ns}];
    syncer = std::make_shared<Syncer>(around_, with_origin, ns);
    syncer->start();
  }
}

void Hub::end(const std::string& name) {
  running_.erase(name);
  resources_.set(static_cast<double>(running_.size()));
  around_.host.info("a resource no longer takes part", {{"resource", name}});
  std::erase_if(syncers_, [&](const auto& entry) {
    if (entry.first.first != name) return false;
    entry.second->close();
    return true;
  });
}

void Hub::show_health() {
  std::vector<std::string> troubles;
  if (std::string unpaired = pairing_->trouble(); !unpaired.empty())
    troubles.push_back(std::move(unpaired));
  if (std::string rival = claimant_ ? claimant_->trouble() : ""; !rival.empty())
    troubles.push_back(std::move(rival));
  if (definitions_watch_ != nullptr && !definitions_.complete())
    troubles.push_back("the definitions: " + definitions_.reason());
  for (const auto& [name, fault] : faults_) troubles.push_back(name + ": " + fault);
  for (const auto& [key, syncer] : syncers_) {
    if (auto trouble = syncer == nullptr ? std::string() : syncer->trouble(); !trouble.empty())
      troubles.push_back(std::move(trouble));
  }
  std::string worst = troubles.empty() ? "" : troubles.front();
  if (troubles.size() > 1) worst += " (and " + std::to_string(troubles.size() - 1) + " more)";
  if (worst == health_) return;
  health_ = worst;
  around_.host.health(worst.empty() ? DAVIT_HEALTH_SERVING : DAVIT_HEALTH_DEGRADED, worst);
}

}  // namespace davit::federation
