// MethodRegistry holds the methods that plugins and the host serve, by full name. Rpc fills it
// while plugins are wired. Afterwards any thread may read it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

// Who may call a method, before its role is checked.
enum class Gate {
  known,       // every caller with valid credentials
  anybody,     // every caller; methods with one answer also while the server shuts down
  reflection,  // like known, but only on servers with `reflection`
};

struct Method {
  std::string path;      // "davit.v1.AgentService/Watch"
  std::string instance;  // the plugin instance that serves it
  std::string request_type, response_type;
  std::string descriptor_set;
  std::string role;  // empty: every caller with credentials
  uint32_t streaming = 0;
  uint32_t request_bytes_max = 0;
  Gate gate = Gate::known;
  void* self = nullptr;
  void (*on_call)(void* self, davit_rpc_call*) = nullptr;
  void (*release)(void* self) = nullptr;

  std::string_view service() const { return std::string_view(path).substr(0, path.find('/')); }
  bool streams_answers() const { return (streaming & DAVIT_RPC_SERVER_STREAMS) != 0; }
  bool streams_requests() const { return (streaming & DAVIT_RPC_CLIENT_STREAMS) != 0; }
};

class MethodRegistry {
 public:
  static constexpr uint32_t request_bytes_default = 4u << 20;

  MethodRegistry() = default;
  ~MethodRegistry();  // releases what the methods were registered with
  MethodRegistry(const MethodRegistry&) = delete;
  MethodRegistry& operator=(const MethodRegistry&) = delete;

  // Registers a method. INVALID_ARGUMENT if it is malformed. ALREADY_EXISTS, with the name of the
  // other instance, if the path is taken.
  Result<> add(std::string_view instance, const davit_rpc_method&);
  // For the host's own methods. The path must be registered.
  void set_gate(std::string_view path, Gate);
  const Method* find(std::string_view path) const;
  bool serves(std::string_view service) const;  // at least one of its methods
  std::vector<const Method*> all() const;       // sorted by path
  uint32_t request_bytes_max() const;           // the largest limit of all methods

 private:
  std::map<std::string, Method, std::less<>> methods_;
};

}  // namespace davit::host
