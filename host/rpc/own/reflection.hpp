// grpc.reflection.v1 and .v1alpha: what grpcurl and the like ask to find out which services there
// are and what their messages look like. Answers from the descriptor sets that methods brought
// along.
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

  // Serves both versions as `host`. During wire, once.
  Result<> serve(const Host& host);
  // Takes in all that is registered. After everybody has served, before the first call.
  void learn(const MethodRegistry&, Log&);

  static std::vector<std::string> paths();
  // The answer to one request; INVALID_ARGUMENT when the bytes are no request. That something is
  // not known is an answer, too. [any]
  Result<std::string> answer(std::string_view request) const;

 private:
  void find(google::protobuf::Message& request, google::protobuf::Message& answer) const;

  std::unique_ptr<davit_schema> schema_;
  Descriptors descriptors_;
  std::vector<std::string> services_;
};

}  // namespace davit::host
