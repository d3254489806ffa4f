#include "method_registry.hpp"

#include <algorithm>

namespace davit::host {

MethodRegistry::~MethodRegistry() {
  for (const auto& [path, method] : methods_) {
    if (method.release != nullptr) method.release(method.self);
  }
}

Result<> MethodRegistry::add(std::string_view instance, const davit_rpc_method& m) {
  Method method;
  method.path = text(m.path);
  method.instance = instance;
  const size_t slash = method.path.find('/');
  const bool well_formed = slash != std::string::npos && slash > 0 &&
                           slash + 1 < method.path.size() &&
                           method.path.find('/', slash + 1) == std::string::npos;
  if (!well_formed || m.on_call == nullptr) {
    return Error{Code::invalid_argument,
                 "\"" + method.path + "\" is not a method (package.Service/Method)"};
  }
  const auto there = methods_.find(method.path);
  if (there != methods_.end()) {
    return Error{Code::already_exists,
                 method.path + " is served by \"" + there->second.instance + "\" already"};
  }
  method.request_type = text(m.request_type);
  method.response_type = text(m.response_type);
  method.descriptor_set = view(m.descriptor_set);
  method.role = text(m.role);
  method.streaming = m.streaming;
  method.request_bytes_max = m.request_bytes_max == 0 ? request_bytes_default : m.request_bytes_max;
  method.self = m.self;
  method.on_call = m.on_call;
  method.release = m.release;
  methods_.emplace(method.path, std::move(method));
  return {};
}

void MethodRegistry::set_gate(std::string_view path, Gate gate) {
  methods_.find(path)->second.gate = gate;
}

bool MethodRegistry::serves(std::string_view service) const {
  const auto first = methods_.lower_bound(std::string(service) + "/");
  return first != methods_.end() && first->second.service() == service;
}

const Method* MethodRegistry::find(std::string_view path) const {
  const auto found = methods_.find(path);
  return found == methods_.end() ? nullptr : &found->second;
}

std::vector<const Method*> MethodRegistry::all() const {
  std::vector<const Method*> out;
  for (const auto& [path, method] : methods_) out.push_back(&method);
  return out;
}

uint32_t MethodRegistry::request_bytes_max() const {
  uint32_t most = request_bytes_default;
  for (const auto& [path, method] : methods_) most = std::max(most, method.request_bytes_max);
  return most;
}

}  // namespace davit::host
