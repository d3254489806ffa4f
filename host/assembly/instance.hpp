// One configured instance of a plugin: [plugin.NAME]. The slots of its plugin are called here and
// nowhere else, each with a net below it: the C++ wrapper lets nothing out, but a plugin need not
// use the wrapper.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "loader/loader.hpp"
#include "services/instance_host.hpp"

namespace davit::host {

// A davit_op whose caller can give up.
class Operation {
 public:
  explicit Operation(std::chrono::steady_clock::time_point deadline);
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  void cancel() { cancelled_ = true; }
  bool cancelled() const { return cancelled_; }
  const davit_op* abi() const { return &op_; }

 private:
  davit_op op_{};  // first: cancelled() gets a pointer to it
  std::atomic<bool> cancelled_{false};
};

class Instance {
 public:
  // `host` outlives the instance and does not move.
  Instance(InstanceHost& host, const Module& module) : host_(host), module_(module) {}
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // The plugin's steps. Errors are the plugin's own, or INTERNAL when something was thrown through
  // the ABI.
  Result<> create();
  Result<> wire();
  Result<> check(const Operation&);
  Result<> start(const Operation&);
  Result<> stop(const Operation&);
  void destroy();
  // nullptr: it does not play this role.
  const void* role(std::string_view interface) const;

  const std::string& name() const { return host_.name; }
  const Module& module() const { return module_; }
  davit_instance* self() const { return self_; }

 private:
  InstanceHost& host_;
  const Module& module_;
  davit_instance* self_ = nullptr;
};

}  // namespace davit::host
