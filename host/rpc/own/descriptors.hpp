// Descriptors indexes files of protobuf descriptors by what they contain. Reflection fills it with
// the descriptor sets that methods were registered with, and answers from it. It has no part in
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
  // Adds the files of a serialized FileDescriptorSet. A file whose name is already known stays as
  // it was. Returns the names of such files whose contents differ. INVALID_ARGUMENT if the bytes
  // are not a set.
  Result<std::vector<std::string>> add(std::string_view descriptor_set);

  // Serialized: the file, then all files that it imports. Empty if nothing is found.
  using Files = std::vector<std::string>;
  Files file(std::string_view name) const;
  // The file that defines a service, method, message, field, oneof, enum, enum value or extension.
  // By full name.
  Files symbol(std::string_view full_name) const;
  Files extension(std::string_view type, int32_t number) const;
  // The numbers of a message's extensions. NOT_FOUND if the message is not known.
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
  std::map<std::string, std::string, std::less<>> symbols_;  // full name -> file
  std::map<std::string, Extensions, std::less<>> extensions_;
};

}  // namespace davit::host
