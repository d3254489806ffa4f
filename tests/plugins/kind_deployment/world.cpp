#include "world.hpp"

#include <stdexcept>

#include <davit/ascii.hpp>

namespace davit::deployment::test {
namespace json = boost::json;
namespace {

// "deployment,replica_set"
void set_controllers(const std::string& words, Site& site) {
  site.controllers.clear();
  std::istringstream list(words);
  for (std::string word; std::getline(list, word, ',');)
    site.controllers.push_back(controller_of_word(word).value());
}

std::pair<std::string, std::string> assignment(const std::string& word) {
  const size_t at = word.find('=');
  if (at == std::string::npos) throw std::runtime_error("not key=value: " + word);
  return {word.substr(0, at), word.substr(at + 1)};
}

std::string text(const json::value& v) {
  return v.is_string() ? v.as_string().c_str() : json::serialize(v);
}

std::string hash_of(const json::object& replica_set) {
  return text(json::value(replica_set)
                  .at_pointer("/spec/template/metadata/annotations/davit.dev~1template-hash"));
}

// Within the first hour of 1970.
std::string time_text(int64_t s) {
  auto two = [](int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return "1970-01-01T00:" + two(s / 60) + ":" + two(s % 60) + "Z";
}

json::array condition(const char* type, const char* status, const std::string& reason = {}) {
  return {json::object{{"type", type}, {"status", status}, {"reason", reason}}};
}

json::object pod_status(const std::string& word) {
  if (word == "ready") return {{"phase", "Running"}, {"conditions", condition("Ready", "True")}};
  if (word == "lost") {
    json::array conditions = condition("ContainersReady", "True");
    conditions.push_back(condition("Ready", "False").front());
    return {{"phase", "Running"}, {"conditions", std::move(conditions)}};
  }
  if (word == "unready")
    return {{"phase", "Running"}, {"conditions", condition("ContainersReady", "False")}};
  if (word == "pending") return {{"phase", "Pending"}};
  if (word == "unschedulable")
    return {{"phase", "Pending"}, {"conditions", condition("PodScheduled", "False", word)}};
  if (word == "failed") return {{"phase", "Failed"}, {"reason", "Evicted"}};
  if (word == "done") return {{"phase", "Succeeded"}};
  if (word == "crashing") {
    json::object status{{"phase", "Running"}};
    status["containerStatuses"] =
        json::parse(R"([{"state":{"waiting":{"reason":"CrashLoopBackOff"}}}])");
    return status;
  }
  throw std::runtime_error("unknown pod state: " + word);
}

bool is_controller(const std::string& kind) {
  return kind == "ReplicaSet" || kind == "Deployment" || kind == "StatefulSet";
}

// What an autoscaler scales, how many pods a budget spares.
std::string more_of(const json::value& object) {
  if (object.at("kind") == "HorizontalPodAutoscaler")
    return " scales=" + text(object.at_pointer("/spec/scaleTargetRef/kind"));
  if (object.at("kind") != "PodDisruptionBudget") return {};
  json::object spec = object.at("spec").as_object();
  spec.erase("selector");
  return " " + json::serialize(spec);
}

std::string planned(const json::object& step) {
  const auto& object = step.at("object").as_object();
  const auto& metadata = object.at("metadata").as_object();
  std::string out = text(step.at("mode")) + " " + text(object.at("kind")) + " ";
  if (metadata.contains("namespace")) out += text(metadata.at("namespace")) + "/";
  out += text(metadata.at("name"));
  if (is_controller(text(object.at("kind")))) {
    const auto& spec = object.at("spec").as_object();
    out += " replicas=" + (spec.contains("replicas") ? text(spec.at("replicas")) : "left");
  }
  if (const auto more = more_of(object); more != " scales=ReplicaSet") out += more;
  if (step.contains("owner")) out += " owner=" + text(step.at("owner"));
  if (metadata.contains("ownerReferences"))
    out += " of=" + text(json::value(metadata).at_pointer("/ownerReferences/0/uid"));
  const char* before = " values=";
  if (const auto* secrets = step.if_contains("secrets")) {
    for (const auto& value : secrets->as_array()) {
      out += before + text(value.at("key")) + ":" + text(value.at_pointer("/decrypt/keyring")) +
             ":" + text(value.at_pointer("/decrypt/ciphertext"));
      before = ",";
    }
  }
  return out + "\n";
}

std::string reported(const json::object& status) {
  std::string out = "status " + text(status.at("health"));
  if (status.at("gone").as_bool()) out += " gone";
  for (const std::string key : {"desired", "updated", "ready", "stale"})
    out += " " + key + "=" + text(status.at(key));
  if (const auto message = text(status.at("message")); !message.empty()) out += ": " + message;
  out += "\n";
  for (const auto& child : status.at("children").as_array()) {
    out += "child " + text(child.at("name")) + " " + text(child.at("status")) + " " +
           text(child.at("address")) + "\n";
  }
  return out;
}

}  // namespace

std::string World::run(const std::string& line) {
  std::istringstream words(line);
  std::string verb, word;
  words >> verb;
  if (verb == "reconcile") return reconcile();
  if (verb == "desire")
    desire(words);
  else if (verb == "forget")
    desired_.reset();
  else if (verb == "site")
    set_site(words);
  else if (verb == "land")
    land();
  else if (verb == "pod")
    pod(words);
  else if (verb == "template")
    edit_template(words);
  else if (verb == "seen")
    seen(words);
  else if (verb == "strip")
    strip();
  else if (verb == "clock" && words >> word)
    now_s_ = std::stoi(word);
  else if (verb == "vanish" && words >> word)
    observed_.erase(word);
  else if (verb == "scaled" && words >> word) {
    replica_set()["spec"].as_object()["replicas"] = std::stoi(word);
    replica_set()["metadata"].as_object()["managedFields"] = json::parse(
        R"([{"operation":"Update","subresource":"scale","fieldsV1":{"f:spec":{"f:replicas":{}}}}])");
  } else if (verb == "edited" && words >> word) {
    replica_set()["spec"].as_object()["replicas"] = std::stoi(word);
  } else if (verb == "refused") {
    replica_set()["status"] = {{"conditions", condition("ReplicaFailure", "True", "FailedCreate")}};
  } else if (verb == "orphaned" && words >> word) {
    observed_.at(word)["metadata"].as_object().erase("ownerReferences");
  } else if (verb == "made" && words >> word) {
    observed_.at("StatefulSet")["status"] = {{"replicas", std::stoi(word)}};
  } else if (verb == "terminating" && words >> word) {
    observed_.at(word)["metadata"].as_object()["deletionTimestamp"] =
        now_s_ == 0 ? "2026-01-01T00:00:00Z" : time_text(now_s_);
  } else {
    throw std::runtime_error("unknown command: " + line);
  }
  return {};
}

void World::desire(std::istringstream& words) {
  if (!desired_) desired_ = minimal();
  for (std::string word; words >> word;) {
    const auto [key, value] = assignment(word);
    desired_->erase(key);
    json::error_code not_json;
    json::value parsed = json::parse(value, not_json);
    if (value != "-") (*desired_)[key] = not_json ? json::value(value) : parsed;
  }
}

void World::set_site(std::istringstream& words) {
  for (std::string word; words >> word;) {
    const auto [key, value] = assignment(word);
    if (key == "max_unavailable")
      site_.max_unavailable = std::stoi(value);
    else if (key == "autoscaling")
      site_.autoscaling = value == "true";
    else if (key == "replace_stale")
      site_.replace_stale = value == "true";
    else if (key == "secrets_as")
      site_.decrypts_secrets = value == "secret";
    else if (key == "max_surge")
      site_.max_surge = std::stoi(value);
    else if (key == "disruption_budgets")
      site_.disruption_budgets = value == "true";
    else if (key == "controllers")
      set_controllers(value, site_);
    else
      throw std::runtime_error("unknown setting: " + key);
  }
}

void World::pod(std::istringstream& words) {
  std::string name, state, word, of = "ReplicaSet";
  words >> name >> state;
  std::string ip;
  while (words >> word) {
    const auto [key, value] = assignment(word);
    if (key != "ip" && key != "of") throw std::runtime_error("unknown word: " + word);
    (key == "ip" ? ip : of) = value;
  }
  auto [at, created] = observed_.try_emplace("Pod/" + name);
  json::object& object = at->second;
  if (created) {
    object = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"name", name}, {"namespace", "acme"}}}};
    object["metadata"].as_object()["annotations"] = {
        {"davit.dev/template-hash", hash_of(observed_.at(of))}};
    const json::value maker(observed_.at(of));
    object["metadata"].as_object()["labels"] = maker.at_pointer("/spec/template/metadata/labels");
    object["metadata"].as_object()["ownerReferences"] = json::array{
        {{"apiVersion", "apps/v1"}, {"kind", of}, {"name", "web"}, {"controller", true}}};
    object["spec"] = {{"containers", maker.at_pointer("/spec/template/spec/containers")}};
    if (now_s_ != 0) object["metadata"].as_object()["creationTimestamp"] = time_text(now_s_);
  }
  object["status"] = pod_status(state);
  if (state == "ready" && now_s_ != 0) {
    json::value& conditions = object["status"].at("conditions");
    conditions.as_array()[0].as_object()["lastTransitionTime"] = time_text(now_s_);
  }
  if (!ip.empty()) object["status"].as_object()["podIP"] = ip;
}

// What the ReplicaSet's controller has seen, and how many ready pods it says it has: `seen
// GENERATION of=GENERATION [ready=N]`.
void World::seen(std::istringstream& words) {
  std::string seen, of, ready;
  words >> seen >> of >> ready;
  replica_set()["metadata"].as_object()["generation"] = std::stoi(assignment(of).second);
  replica_set()["status"] = {{"observedGeneration", std::stoi(seen)}};
  if (ready.empty()) return;
  json::object& status = replica_set()["status"].as_object();
  const int count = std::stoi(assignment(ready).second);
  status["replicas"] = count;
  if (count > 0) status["readyReplicas"] = count;
}

// As another program would have made them: without a template's hash.
void World::strip() {
  json::value object(replica_set());
  object.at_pointer("/spec/template/metadata").as_object().erase("annotations");
  replica_set() = object.as_object();
  json::object& metadata = replica_set()["metadata"].as_object();
  metadata["labels"].as_object().erase("davit.dev/region");
  for (auto& [key, pod] : observed_) {
    if (key.starts_with("Pod/")) pod["metadata"].as_object().erase("annotations");
  }
}

// Somebody else's edit, by hand: `template POINTER VALUE at=TIME`.
void World::edit_template(std::istringstream& words) {
  std::string pointer, value, time;
  words >> pointer >> value >> time;
  json::value object(replica_set());
  object.at_pointer("/spec/template" + pointer) = value;
  replica_set() = object.as_object();
  replica_set()["metadata"].as_object()["managedFields"] =
      json::array{{{"manager", "somebody"},
                   {"operation", "Update"},
                   {"time", assignment(time).second},
                   {"fieldsV1", {{"f:spec", {{"f:template", {{"f:spec", json::object()}}}}}}}}};
}

// What an API server does with the plan, as far as the kind can see it.
void World::land() {
  for (const auto& step : plan_.at("apply").as_array()) {
    json::object object = step.at("object").as_object();
    const std::string kind = text(object.at("kind"));
    if (kind == "Namespace") continue;
    if (is_controller(kind)) land_controller(kind, object);
    object["metadata"].as_object()["uid"] = "u-" + kind;
    observed_[kind] = std::move(object);
  }
  for (const auto& item : plan_.at("delete").as_array()) {
    const std::string resource = text(item.at("resource"));
    if (resource == "pods") observed_.erase("Pod/" + text(item.at("name")));
    for (const auto& [key, object] : observed_) {
      if (lower_case(key) + "s" != resource) continue;
      observed_.erase(key);
      break;
    }
  }
}

// Fields that the plan leaves out stay.
void World::land_controller(const std::string& kind, json::object& object) const {
  object["metadata"].as_object()["labels"].as_object()["davit.dev/region"] = "eu";
  const auto old = observed_.find(kind);
  auto& spec = object["spec"].as_object();
  if (old == observed_.end() || spec.contains("replicas")) return;
  const auto& old_spec = old->second.at("spec").as_object();
  if (old_spec.contains("replicas")) spec["replicas"] = old_spec.at("replicas");
  const auto& old_metadata = old->second.at("metadata").as_object();
  if (old_metadata.contains("managedFields"))
    object["metadata"].as_object()["managedFields"] = old_metadata.at("managedFields");
}

std::string World::reconcile() {
  json::object input{
      {"record", {{"id", "d_1"}, {"namespace", "acme"}, {"name", "web"}, {"version", "17"}}}};
  if (desired_) input["desired"] = *desired_;
  auto& objects = input["observed"].emplace_array();
  for (const auto& [key, object] : observed_) objects.push_back(object);
  if (now_s_ != 0) input["now_unix_ms"] = now_s_ * 1000;
  const auto output = deployment::reconcile(json::serialize(input), site_);
  if (!output.ok()) return "error " + output.error().where + ": " + output.error().message + "\n";

  plan_ = json::parse(*output).as_object();
  std::string out;
  for (const auto& step : plan_.at("apply").as_array()) out += planned(step.as_object());
  for (const auto& item : plan_.at("delete").as_array()) {
    out += "delete " + text(item.at("resource")) + " " + text(item.at("namespace")) + "/";
    out += text(item.at("name")) + "\n";
  }
  const int64_t wait = plan_.at("look_again_ms").as_int64();
  if (wait != 0) out += "look again in " + std::to_string(wait / 1000) + " s\n";
  return out + reported(plan_.at("status").as_object());
}

}  // namespace davit::deployment::test
