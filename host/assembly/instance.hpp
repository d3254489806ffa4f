// One configured instance of a plugin: [plugin.NAME]. Only this class calls the life-cycle slots of
// a plugin, and it catches exceptions: the C++ wrapper lets none out, but a plugin need not use the
// wrapper.
#pragma once

#include <chrono>
#include <string>

#include <davit/operation.hpp>

#include "loader/loader.hpp"
#include "services/instance_host.hpp"

namespace davit::host {

// An operation with this deadline.
inline Operation operation_until(std::chrono::steady_clock::time_point deadline) {
  if (deadline == std::chrono::steady_clock::time_point::max()) return Operation();
  return Operation(std::chrono::nanoseconds(deadline.time_since_epoch()).count());
}

class Instance {
 public:
  // `host` outlives the instance and does not move.
  Instance(InstanceHost& host, const Module& module) : host_(host), module_(module) {}
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // The steps of the plugin's life. An error is the plugin's own, or INTERNAL if an exception
  // crossed the ABI. `create` also fails when the instance plays other roles than the note names.
  Result<> create();
  Result<> wire();
  Result<> check(const Operation&);
  Result<> start(const Operation&);
  Result<> stop(const Operation&);
  void destroy();
  // The table of an interface; nullptr: the plugin does not offer it.
  const void* role(std::string_view interface) const;

  const std::string& name() const { return host_.name; }
  const Module& module() const { return module_; }
  davit_instance* self() const { return self_; }

 private:
  Result<> check_roles() const;

  InstanceHost& host_;
  const Module& module_;
  davit_instance* self_ = nullptr;
};

}  // namespace davit::host
