// Reflection serves grpc.reflection.v1 and v1alpha, by which grpcurl and similar tools find out
// which services exist and what their messages look like. It answers from the descriptor sets that
// methods were registered with.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <davit/rpc.hpp>

#include "descriptors.hpp"

struct davit_schema;

namespace google::protobuf {
class Message;
}

namespace davit::host {

class Log;
class MethodRegistry;

class Reflection {
 public:
  Reflection();
  ~Reflection();
  Reflection(const Reflection&) = delete;
  Reflection& operator=(const Reflection&) = delete;

  // Registers both versions as `host`. Once, during wire.
  Result<> serve(const Host& host);
  // Takes in all registered methods. After all plugins have registered theirs, before the first
  // call.
  void learn(const MethodRegistry&, Log&);

  static std::vector<std::string> paths();
  // The answer to one request. INVALID_ARGUMENT if the bytes are not a request. An unknown name is
  // not an error but an answer. [any]
  Result<std::string> answer(std::string_view request) const;

 private:
  void find(google::protobuf::Message& request, google::protobuf::Message& answer) const;

  std::unique_ptr<davit_schema> schema_;
  Descriptors descriptors_;
  std::vector<std::string> services_;
};

}  // namespace davit::host
