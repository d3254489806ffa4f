#include "request.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "davit/rfc3339.hpp"
#include "kubernetes/json.hpp"
#include "process/one_line.hpp"

namespace davit::actuator_exec {
namespace {

namespace json = boost::json;

constexpr size_t cluster_depth_max = 256;

std::string in_quotes(std::string_view text) {
  return json::serialize(json::string(json::string_view(text.data(), text.size())));
}

// "aws.example/v1" is of "aws.example" and of itself.
bool is_of(std::string_view api_version, std::string_view provider) {
  return api_version == provider || api_version.substr(0, api_version.find('/')) == provider;
}

}  // namespace

Result<> check_call(const actuator::Call& call, Operation operation,
                    const std::vector<std::string>& providers) {
  if (call.uid.empty()) return Error{Code::invalid_argument, "the cluster has no uid", "uid"};
  json::parse_options options;
  options.max_depth = cluster_depth_max;
  json::error_code bad;
  const json::value cluster =
      json::parse(json::string_view(call.cluster.data(), call.cluster.size()), bad, {}, options);
  if (bad || !cluster.is_object())
    return Error{Code::invalid_argument, "the cluster is no JSON object", "cluster"};
  // What is removed may have been of this provider before its providerSpec was changed. The program
  // knows by the uid what there is.
  if (providers.empty() || operation == Operation::remove) return {};
  const auto version = kubernetes::text_at(cluster, "/spec/providerSpec/value/apiVersion");
  if (version.empty()) {
    return Error{Code::invalid_argument, "is needed: it says which provider builds the cluster",
                 "spec.providerSpec.value.apiVersion"};
  }
  if (std::any_of(providers.begin(), providers.end(),
                  [&](const std::string& one) { return is_of(version, one); }))
    return {};
  return Error{Code::unimplemented,
               "\"" + process::one_line(version, 100) + "\" is not of this actuator's providers",
               "spec.providerSpec.value.apiVersion"};
}

std::string request_of(const actuator::Call& call, Operation operation, int64_t deadline_unix_ms) {
  std::string out = R"({"apiVersion":"davit.dev/actuator/v1","operation":")";
  out += operation == Operation::reconcile ? "reconcile" : "delete";
  out += R"(","namespace":)" + in_quotes(call.ns) + R"(,"name":)" + in_quotes(call.name);
  out += R"(,"uid":)" + in_quotes(call.uid);
  out += R"(,"deadline":")" + rfc3339(deadline_unix_ms) + R"(","cluster":)" + call.cluster + "}\n";
  return out;
}

}  // namespace davit::actuator_exec
