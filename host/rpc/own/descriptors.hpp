// Files of protobuf descriptors by what they contain: what reflection answers from. Made of the
// descriptor sets that methods were registered with; a pool of its own, so nothing here touches
// generated code. Immutable once filled.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <davit/types.hpp>

namespace google::protobuf {
class DescriptorProto;
class FieldDescriptorProto;
class FileDescriptorProto;
}  // namespace google::protobuf

namespace davit::host {

class Descriptors {
 public:
  // Adds the files of a serialized FileDescriptorSet. A file whose name is there already stays as
  // it was: the names of those that were different. INVALID_ARGUMENT when it is not a set.
  Result<std::vector<std::string>> add(std::string_view descriptor_set);

  // Serialized: the file, then all that it imports. Empty: there is none.
  using Files = std::vector<std::string>;
  Files file(std::string_view name) const;
  // Of a service, method, message, field, oneof, enum, enum value or extension, by full name.
  Files symbol(std::string_view full_name) const;
  Files extension(std::string_view type, int32_t number) const;
  // The numbers by which a message is extended; NOT_FOUND when there is no such message.
  Result<std::vector<int32_t>> extensions_of(std::string_view type) const;

 private:
  struct File {
    std::string bytes;
    std::vector<std::string> imports;
  };
  using Extensions = std::map<int32_t, std::string>;  // number -> file
  void index(const google::protobuf::FileDescriptorProto&);
  void index(const google::protobuf::DescriptorProto&, const std::string& scope,
             const std::string& file);
  void index(const google::protobuf::FieldDescriptorProto& extension, const std::string& scope,
             const std::string& file);

  std::map<std::string, File, std::less<>> files_;
  std::map<std::string, std::string, std::less<>> symbols_;  // -> file
  std::map<std::string, Extensions, std::less<>> extensions_;
};

}  // namespace davit::host
