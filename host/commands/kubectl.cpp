#include "kubectl.hpp"

#include <algorithm>
#include <initializer_list>

#include <boost/json/object.hpp>

#include "read_file.hpp"
#include "run_program.hpp"
#include "text_table.hpp"
#include "yaml.hpp"

namespace davit::host {
namespace {

namespace json = boost::json;

constexpr std::chrono::milliseconds limit_of_a_run{60'000};
constexpr std::chrono::milliseconds least_limit{1'000};

Error unusable(const std::string& what) {
  return {Code::failed_precondition, "the Cluster's kubeconfig " + what};
}

// What lets a kubeconfig run programs or read files.
const char* reaching_out(const json::value& value) {
  if (value.is_array()) {
    for (const json::value& item : value.get_array())
      if (const char* found = reaching_out(item)) return found;
  }
  if (!value.is_object()) return nullptr;
  for (const auto& member : value.get_object()) {
    for (const char* key : {"exec", "auth-provider", "tokenFile", "client-key",
                            "client-certificate", "certificate-authority"})
      if (member.key() == key) return key;
    if (const char* found = reaching_out(member.value())) return found;
  }
  return nullptr;
}

Result<> require_cluster(const std::string& text, bool content) {
  const auto documents = read_yaml(text, "kubeconfig");
  if (!documents.ok()) return unusable("is no YAML");
  if (documents->size() != 1 || !documents->front().value.is_object())
    return unusable("is not one document");
  const json::object& object = documents->front().value.get_object();
  const json::value* clusters = object.if_contains("clusters");
  const json::value* context = object.if_contains("current-context");
  if (clusters == nullptr || !clusters->is_array() || clusters->get_array().empty())
    return unusable("names no cluster");
  if (context == nullptr || !context->is_string() || context->get_string().empty())
    return unusable("has no current-context");
  if (const char* found = content ? reaching_out(documents->front().value) : nullptr) {
    return unusable(std::string("has \"") + found +
                    "\": one that a Cluster's status has may neither run programs nor name files");
  }
  return {};
}

bool has(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.find(word) != std::string::npos; });
}

Code code_of(const std::string& errors) {
  if (has(errors, {"(Forbidden)"})) return Code::permission_denied;
  if (has(errors, {"(Unauthorized)", "You must be logged in"})) return Code::unauthenticated;
  if (has(errors, {"(NotFound)"})) return Code::not_found;
  if (has(errors, {"Unable to connect",
                   "connection refused",
                   "was refused",
                   "timeout",
                   "timed out",
                   "no such host",
                   "no route to host",
                   "unreachable",
                   "deadline exceeded",
                   "connection reset",
                   "EOF",
                   "(ServiceUnavailable)",
                   "(InternalError)",
                   "etcdserver",
                   "(TooManyRequests)",
                   "currently unable",
                   "not yet ready",
                   "the server is not ready",
                   "(Timeout)",
                   "(Conflict)",
                   "being terminated"}))
    return Code::unavailable;
  return Code::failed_precondition;
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  constexpr size_t line_max = 500;
  std::string line = text.substr(text.rfind('\n') + 1).substr(0, line_max);
  return harmless(line);
}

}  // namespace

Result<Kubectl> Kubectl::open(std::string program, const std::string& kubeconfig,
                              std::chrono::steady_clock::time_point deadline) {
  Kubectl out;
  out.program_ = std::move(program);
  out.deadline_ = deadline;
  if (kubeconfig.find('\n') != std::string::npos || kubeconfig.starts_with('{')) {
    if (auto r = require_cluster(kubeconfig, true); !r.ok()) return r.error();
    out.content_ = kubeconfig;
    out.kubeconfig_ = "/proc/self/fd/4";
    return out;
  }
  // The text is not shown: it may be the kubeconfig, with its credentials.
  if (!kubeconfig.starts_with('/'))
    return unusable("is neither an absolute path nor a document of several lines");
  const auto text = read_file(kubeconfig);
  if (!text.ok()) return Error{Code::failed_precondition, text.error().message};
  if (auto r = require_cluster(*text, false); !r.ok()) return r.error();
  out.kubeconfig_ = kubeconfig;
  return out;
}

Result<std::string> Kubectl::run(const std::vector<std::string>& words,
                                 const std::string& input) const {
  // Its cache tells clusters by their address, which another cluster has later.
  std::vector<std::string> all = {program_, "--kubeconfig", kubeconfig_, "--request-timeout=20s",
                                  "--cache-dir=/dev/null"};
  all.insert(all.end(), words.begin(), words.end());
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline_ - std::chrono::steady_clock::now());
  const auto ran = run_program(all, input, content_, std::clamp(left, least_limit, limit_of_a_run));
  const std::string what = "kubectl " + words.front();
  if (!ran.ok()) {
    const bool late = ran.error().code == Code::deadline_exceeded;
    return Error{late ? Code::unavailable : ran.error().code, ran.error().message}.in(what);
  }
  if (ran->status == 0) return ran->output;
  const std::string line = last_line(ran->errors);
  return Error{code_of(ran->errors),
               what + ": " + (line.empty() ? "ended with " + std::to_string(ran->status) : line)};
}

}  // namespace davit::host
