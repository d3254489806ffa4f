// The methods that plugins serve, by full name. Filled while plugins are wired; read by any thread
// afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

// Who gets as far as a method's role.
enum class Gate {
  known,       // whoever has shown credentials
  anybody,     // and while the server goes down, too, when it has one answer
  reflection,  // the known, on servers with `reflection`
};

struct Method {
  std::string path;      // "davit.v1.AgentService/Watch"
  std::string instance;  // who serves it
  std::string request_type, response_type;
  std::string descriptor_set;
  std::string role;  // empty: every caller that is known
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
  ~MethodRegistry();  // lets go of what the methods brought along
  MethodRegistry(const MethodRegistry&) = delete;
  MethodRegistry& operator=(const MethodRegistry&) = delete;

  // INVALID_ARGUMENT when it is not a method, ALREADY_EXISTS with the other instance's name.
  Result<> add(std::string_view instance, const davit_rpc_method&);
  // For methods of the host itself.
  void set_gate(std::string_view path, Gate);
  const Method* find(std::string_view path) const;
  bool serves(std::string_view service) const;  // one method of it, at least
  std::vector<const Method*> all() const;       // by path
  uint32_t request_bytes_max() const;           // the largest that any method takes

 private:
  std::map<std::string, Method, std::less<>> methods_;
};

}  // namespace davit::host
