// The protocol of exec plugins: what a program of a kubeconfig is given, and what it answers.
// ExecRunner runs it, Credentials uses the answer. Pure.
#pragma once

#include "access.hpp"
#include "credential.hpp"
#include "process/one_line.hpp"

namespace davit::cluster_kubernetes {

// "client.authentication.k8s.io/v1" and "/v1beta1".
bool is_exec_version(std::string_view api_version);

// The environment of the plugin: the present one ("NAME=value"), with what the kubeconfig adds.
std::vector<std::string> exec_environment(const ExecPlugin& plugin,
                                          const std::vector<std::string>& present);

// The output is an ExecCredential of the plugin's version. No error contains anything of it.
Result<Credential> parse_exec_credential(std::string_view output, const ExecPlugin& plugin);

// "2026-11-28T10:00:00Z", "2026-11-28T11:00:00.5+01:00". Nothing: it is no such time.
std::optional<int64_t> parse_rfc3339_ms(std::string_view text);

using process::one_line;

}  // namespace davit::cluster_kubernetes
