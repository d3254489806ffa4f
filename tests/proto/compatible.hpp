// Says where the messages and services of one release cannot stand in for those of an earlier one,
// by the rules of proto/davit/README.md. Pure.
#pragma once

#include <string>
#include <vector>

#include <google/protobuf/descriptor.pb.h>

namespace davit::proto {

// One line for each break, in the order of `before`. Empty: there is none.
std::vector<std::string> breaks(const google::protobuf::FileDescriptorSet& before,
                                const google::protobuf::FileDescriptorSet& now);

}  // namespace davit::proto
