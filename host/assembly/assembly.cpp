#include "assembly.hpp"

#include <algorithm>

#include <davit/abi/storage_intents.h>

#include "config/config.hpp"
#include "config/suggest.hpp"
#include "role_proxy.hpp"
#include "runtime/pool.hpp"
#include "runtime/runtime.hpp"
#include "runtime/step.hpp"
#include "services/health.hpp"
#include "services/log.hpp"
#include "services/metrics.hpp"
#include "services/services.hpp"
#include "stop_call.hpp"

namespace davit::host {

struct Assembly::Member {
  InstanceHost host;
  std::unique_ptr<Instance> instance;           // empty: the module could not be loaded
  std::map<std::string_view, RoleProxy> roles;  // by the id of the interface
  std::set<size_t> uses;                        // the instances that it looked up

  const Party& party() const { return host::party(host.name); }
  // Judges the tables that the plugin offers.
  Result<> join_roles();
  // Nothing: the plugin does not offer the interface.
  std::optional<davit_ref> offer(std::string_view interface) const;
};

Result<> Assembly::Member::join_roles() {
  for (const Contract& contract : contracts()) {
    const void* const table = instance->role(contract.id);
    if (table == nullptr) continue;
    if (auto whole = judge(contract, instance->self(), table); !whole.ok()) return whole;
    roles.try_emplace(contract.id, contract, party(), instance->self(), table);
  }
  return {};
}

std::optional<davit_ref> Assembly::Member::offer(std::string_view interface) const {
  if (const auto known = roles.find(interface); known != roles.end()) return known->second.ref();
  const void* const table = instance->role(interface);
  if (table == nullptr) return std::nullopt;
  return davit_ref{instance->self(), table, str(host.name)};
}

namespace {

constexpr std::string_view pool_key = "pool_threads";
// The key of the plugin's that the error is about; nullptr: it is about something else.
const Node* key_of(const Node& settings, const Error& error) {
  return error.where.empty() ? nullptr : settings.find(error.where);
}

// What the plugin said, with what it is about unless that is a key or the text names it.
std::string words_of(const Node& settings, const Error& error) {
  const bool placed =
      key_of(settings, error) != nullptr || error.message.find(error.where) != std::string::npos;
  return placed ? error.message : error.where + ": " + error.message;
}

// Adds a plugin's error. If the error names one of the plugin's keys, it is placed at that key.
void add_fault(Faults& faults, const Node& settings, const Error& error) {
  const Node* key = key_of(settings, error);
  const Node& at = key != nullptr ? *key : settings;
  faults.add(at.where, at.key, words_of(settings, error));
}

// The threads of an instance's pool: what the plugin says, or the operator if the plugin lets him.
unsigned pool_threads(const Node& settings, const Module& module, Faults& faults) {
  const davit_plugin& plugin = *module.plugin;
  const uint32_t usual = std::max(1U, plugin.max_concurrency);
  const Table table(&settings, settings.key, &faults);
  if (plugin.pool_threads_max == 0) {
    if (table.has(pool_key))
      table.reject(pool_key, "module \"" + module.note.name + "\" works with a pool of " +
                                 std::to_string(usual) + ": remove the key");
    return usual;
  }
  const uint32_t most = std::min(plugin.pool_threads_max, pool_threads_most);
  return static_cast<unsigned>(
      table.integer(pool_key, usual, std::max(1U, plugin.pool_threads_min), most));
}

}  // namespace

Assembly::Assembly(const Core& core, const Services& services, Loader& loader,
                   std::string state_root, std::chrono::milliseconds commit_timeout)
    : core_(core),
      services_(services),
      loader_(loader),
      state_root_(std::move(state_root)),
      commit_timeout_(commit_timeout) {}

Assembly::~Assembly() {
  destroy();
}

void Assembly::create(const Config& config, Faults& faults) {
  for (const Node* settings : config.plugins(faults)) {
    auto member = std::make_unique<Member>();
    InstanceHost& host = member->host;
    host.name = settings->name;
    host.abi.struct_size = sizeof host.abi;
    host.abi.instance = str(host.name);
    host.abi.query = [](const davit_host* h, davit_str id) {
      return instance(h).services->find(view(id));
    };
    host.core = &core_;
    host.services = &services_;
    host.neighbours = this;
    host.commits = &commits_;
    host.settings = settings;
    host.state_root = state_root_;
    members_.push_back(std::move(member));
    create(*members_.back(), faults);
  }
}

void Assembly::create(Member& member, Faults& faults) {
  InstanceHost& host = member.host;
  const Step step(Step::Kind::life, member.party(), "create");
  const Node& settings = *host.settings;
  const std::string module_name = Table(&settings, settings.key, &faults).string("module");
  if (module_name.empty()) {
    const Node* key = settings.find("module");
    if (key != nullptr && !key->rejected) key->reject(faults, "must not be empty");
    settings.closed = true;
    return;
  }
  auto module = loader_.load(module_name);
  if (!module.ok()) {
    settings.find("module")->reject(faults, module.error().message);
    settings.closed = true;
    return;
  }
  set_module(party(host.name), module_name);
  host.pool = &core_.runtime.pool(host.name, pool_threads(settings, **module, faults));
  core_.health.set(host.name, DAVIT_HEALTH_STARTING, "");
  member.instance = std::make_unique<Instance>(host, **module);
  Faults own;
  host.faults = &own;
  const Result<> made = member.instance->create();
  host.faults = nullptr;
  for (const std::string& line : own.lines()) faults.add("", "", line);
  if (made.ok()) {
    if (const Result<> whole = member.join_roles(); !whole.ok()) {
      settings.find("module")->reject(
          faults, whole.error().in("module \"" + module_name + "\": " + (*module)->path).message);
    } else if (const auto storage = member.offer(DAVIT_STORAGE)) {
      const davit_pair label{str("storage"), str(host.name)};
      CommitQueue& queue = commits_.add(
          host.name, *storage, *host.pool,
          core_.metrics.metric(DAVIT_HISTOGRAM, "davit_host_commit_seconds",
                               "From a group being handed over until its result.", &label, 1),
          core_.log, commit_timeout_);
      if (member.offer(DAVIT_STORAGE_INTENTS)) queue.let_intents_in();
    }
    return;
  }
  // If the plugin has already rejected a setting, its error only repeats that fault.
  if (own.empty()) add_fault(faults, settings, made.error());
  settings.closed = true;
}

void Assembly::wire(Faults& faults) {
  wiring_ = true;
  for (auto& member : members_) {
    const Step step(Step::Kind::life, member->party(), "wire");
    const Result<> wired = member->instance->wire();
    if (!wired.ok()) add_fault(faults, *member->host.settings, wired.error());
  }
  wiring_ = false;
  std::vector<Vertex> graph;
  for (auto& member : members_) graph.push_back({member->host.name, member->uses});
  auto order = start_order(graph);
  if (order.ok()) {
    order_ = *order;
  } else {
    faults.add("", "", order.error().message);
  }
}

void Assembly::check(Faults& faults, bool running) {
  constexpr std::chrono::seconds patience{30};
  for (size_t i : order_) {
    const Operation op = operation_until(std::chrono::steady_clock::now() + patience);
    const Step step(Step::Kind::life, members_[i]->party(), "check");
    const Result<> checked = members_[i]->instance->check(op);
    if (checked.ok() || (running && checked.error().code == Code::unavailable)) continue;
    add_fault(faults, *members_[i]->host.settings, checked.error());
  }
}

Result<> Assembly::start(size_t i, const Operation& op) {
  Member& member = *members_[i];
  if (op.cancelled()) return Error{Code::cancelled, "told to stop while starting"};
  const Step step(Step::Kind::life, member.party(), "start");
  const Result<> started = member.instance->start(op);
  if (!started.ok()) {
    return Error{started.error().code, "plugin \"" + member.host.name + "\": " +
                                           words_of(*member.host.settings, started.error())};
  }
  started_.push_back(i);
  core_.log.debug("host", "plugin started", {{"instance", member.host.name}});
  core_.health.set_if_starting(member.host.name, DAVIT_HEALTH_SERVING);
  return {};
}

Result<> Assembly::start(const Operation& op) {
  for (size_t i : order_) {
    if (auto r = start(i, op); !r.ok()) return r;
  }
  return {};
}

Result<> Assembly::start_only(std::string_view instance, const Operation& op) {
  std::set<size_t> wanted;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (members_[i]->host.name == instance) add_used(i, wanted);
  }
  for (size_t i : order_) {
    const bool started = std::ranges::find(started_, i) != started_.end();
    if (!wanted.contains(i) || started) continue;
    if (auto r = start(i, op); !r.ok()) return r;
  }
  return {};
}

// Wiring has refused circles.
void Assembly::add_used(size_t member, std::set<size_t>& to) const {
  if (!to.insert(member).second) return;
  for (size_t used : members_[member]->uses) add_used(used, to);
}

std::optional<Assembly::Late> Assembly::stop(std::chrono::steady_clock::time_point deadline) {
  while (!started_.empty()) {
    Member& member = *members_[started_.back()];
    const std::string& name = member.host.name;
    core_.health.set(name, DAVIT_HEALTH_NOT_SERVING, "stopping");
    // All instances that looked this one up have stopped. Their calls must end first, or they would
    // use what stop ends.
    if (const std::string guest = member.host.pool->wait_for_guests(deadline); !guest.empty()) {
      const auto inside = Step::oldest([&](const Step::Seen& s) {
        return s.kind == Step::Kind::blocking_call && s.who == &member.party();
      });
      return Late{name, inside ? inside->text() + ", has not ended"
                               : "a call of \"" + guest + "\" has not ended"};
    }
    for (auto& [id, role] : member.roles) {  // calls that were made outside of its pool
      if (!role.close(deadline))
        return Late{name, "a call of its " + std::string(id) + " has not ended"};
    }
    const auto result = stop_within(*member.instance, deadline);
    if (!result) return Late{name, "does not return from stop"};
    if (!result->ok()) return Late{name, result->error().message};
    started_.pop_back();
  }
  return std::nullopt;
}

void Assembly::destroy() {
  // An instance outlives those that looked it up.
  if (order_.size() == members_.size()) {
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      destroy(*members_[*it]);
    }
  }
  order_.clear();
  for (auto it = members_.rbegin(); it != members_.rend(); ++it) destroy(**it);
  members_.clear();
}

void Assembly::destroy(Member& member) {
  const Step step(Step::Kind::life, member.party(), "destroy");
  member.instance.reset();
}

std::vector<Assembly::Line> Assembly::graph() const {
  std::vector<Line> out;
  for (size_t i : order_) {
    const Member& member = *members_[i];
    const Module& module = member.instance->module();
    Line line{member.host.name,
              module.note.name,
              module.note.version,
              module.note.roles,
              module.note.needs,
              member.host.pool->max_concurrency(),
              {}};
    for (size_t used : member.uses) line.uses.push_back(members_[used]->host.name);
    out.push_back(std::move(line));
  }
  return out;
}

Result<size_t> Assembly::look_up(std::string_view finder, std::string_view name) const {
  if (!wiring_) return Error{Code::failed_precondition, "look-ups are made in wire only"};
  std::vector<std::string> names;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (members_[i]->host.name == name) return i;
    if (members_[i]->host.name != finder) names.push_back(members_[i]->host.name);
  }
  const std::string near = nearest(name, names);
  return Error{Code::not_found, "no plugin \"" + std::string(name) + "\"" +
                                    (near.empty() ? "" : "; did you mean \"" + near + "\"?")};
}

// Finds the setting that contains the name, so that a fault points to its line.
std::string Assembly::key_that_says(std::string_view finder, std::string_view name) const {
  const auto says = [&](const Node& node) {
    return node.type == Node::Type::string && node.string == name;
  };
  for (const auto& member : members_) {
    if (member->host.name != finder) continue;
    for (const auto& key : member->host.settings->children) {
      const auto& items = key->children;
      const bool among =
          key->type == Node::Type::array &&
          std::any_of(items.begin(), items.end(), [&](const auto& item) { return says(*item); });
      if (key->name != "module" && (says(*key) || among)) return key->name;
    }
  }
  return {};
}

Result<davit_ref> Assembly::find(std::string_view finder, std::string_view name,
                                 std::string_view interface) {
  auto found = look_up(finder, name);
  if (!found.ok()) {
    Error error = found.error();
    error.where = key_that_says(finder, name);
    return error;
  }
  Member& member = *members_[*found];
  const auto offered = member.offer(interface);
  if (!offered) {
    return Error{Code::failed_precondition,
                 "plugin \"" + member.host.name + "\" (module " +
                     member.instance->module().note.name + ") does not offer " +
                     std::string(interface),
                 key_that_says(finder, name)};
  }
  members_[*look_up(finder, finder)]->uses.insert(*found);
  return *offered;
}

std::vector<davit_ref> Assembly::offering(std::string_view interface) const {
  std::vector<davit_ref> out;
  for (const auto& member : members_) {
    if (const auto offered = member->offer(interface)) out.push_back(*offered);
  }
  return out;
}

std::optional<davit_ref> Assembly::offer(std::string_view instance,
                                         std::string_view interface) const {
  for (const auto& member : members_) {
    if (member->host.name == instance) return member->offer(interface);
  }
  return std::nullopt;
}

const davit_host* Assembly::host_of(std::string_view instance) const {
  for (const auto& member : members_) {
    if (member->host.name == instance) return &member->host.abi;
  }
  return nullptr;
}

std::vector<davit_ref> Assembly::each(std::string_view finder, std::string_view interface) {
  std::vector<davit_ref> out;
  for (auto& member : members_) {
    if (member->host.name == finder) continue;
    if (!member->offer(interface)) continue;
    auto ref = find(finder, member->host.name, interface);
    if (ref.ok()) out.push_back(*ref);
  }
  return out;
}

Pool* Assembly::pool(std::string_view name) {
  for (auto& member : members_) {
    if (member->host.name == name) return member->host.pool;
  }
  return nullptr;
}

}  // namespace davit::host
