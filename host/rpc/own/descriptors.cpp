#include "descriptors.hpp"

#include <google/protobuf/descriptor.pb.h>

#include <set>

namespace davit::host {

namespace {

namespace pb = google::protobuf;

std::string within(const std::string& scope, const std::string& name) {
  return scope.empty() ? name : scope + "." + name;
}

}  // namespace

Result<std::vector<std::string>> Descriptors::add(std::string_view descriptor_set) {
  pb::FileDescriptorSet set;
  if (descriptor_set.size() > INT32_MAX ||
      !set.ParseFromArray(descriptor_set.data(), static_cast<int>(descriptor_set.size()))) {
    return Error{Code::invalid_argument, "descriptor set: not a google.protobuf.FileDescriptorSet"};
  }
  std::vector<std::string> different;
  for (const auto& file : set.file()) {
    File entry{file.SerializeAsString(), {file.dependency().begin(), file.dependency().end()}};
    const auto there = files_.find(file.name());
    if (there == files_.end()) {
      files_.emplace(file.name(), std::move(entry));
      index(file);
    } else if (there->second.bytes != entry.bytes) {
      different.push_back(file.name());
    }
  }
  return different;
}

void Descriptors::index(const pb::FileDescriptorProto& file) {
  const std::string& package = file.package();
  for (const auto& type : file.message_type()) index(type, package, file.name());
  for (const auto& type : file.enum_type()) {
    symbols_.emplace(within(package, type.name()), file.name());
    for (const auto& v : type.value()) symbols_.emplace(within(package, v.name()), file.name());
  }
  for (const auto& field : file.extension()) index(field, package, file.name());
  for (const auto& service : file.service()) {
    const std::string name = within(package, service.name());
    symbols_.emplace(name, file.name());
    for (const auto& m : service.method()) symbols_.emplace(within(name, m.name()), file.name());
  }
}

void Descriptors::index(const pb::DescriptorProto& type, const std::string& scope,
                        const std::string& file) {
  const std::string name = within(scope, type.name());
  symbols_.emplace(name, file);
  extensions_.try_emplace(name);
  for (const auto& field : type.field()) symbols_.emplace(within(name, field.name()), file);
  for (const auto& oneof : type.oneof_decl()) symbols_.emplace(within(name, oneof.name()), file);
  for (const auto& nested : type.nested_type()) index(nested, name, file);
  for (const auto& nested : type.enum_type()) {
    symbols_.emplace(within(name, nested.name()), file);
    for (const auto& v : nested.value()) symbols_.emplace(within(name, v.name()), file);
  }
  for (const auto& field : type.extension()) index(field, name, file);
}

void Descriptors::index(const pb::FieldDescriptorProto& extension, const std::string& scope,
                        const std::string& file) {
  symbols_.emplace(within(scope, extension.name()), file);
  // protoc writes full names with a dot in front.
  const std::string& of = extension.extendee();
  extensions_[of.starts_with('.') ? of.substr(1) : of].emplace(extension.number(), file);
}

Descriptors::Files Descriptors::file(std::string_view name) const {
  Files out;
  std::set<std::string, std::less<>> seen;
  std::vector<std::string> wanted = {std::string(name)};
  while (!wanted.empty()) {
    const std::string next = std::move(wanted.back());
    wanted.pop_back();
    const auto found = files_.find(next);
    if (found == files_.end() || !seen.insert(next).second) continue;
    out.push_back(found->second.bytes);
    wanted.insert(wanted.end(), found->second.imports.begin(), found->second.imports.end());
  }
  return out;
}

Descriptors::Files Descriptors::symbol(std::string_view full_name) const {
  const auto found = symbols_.find(full_name);
  return found == symbols_.end() ? Files() : file(found->second);
}

Descriptors::Files Descriptors::extension(std::string_view type, int32_t number) const {
  const auto found = extensions_.find(type);
  if (found == extensions_.end()) return {};
  const auto in = found->second.find(number);
  return in == found->second.end() ? Files() : file(in->second);
}

Result<std::vector<int32_t>> Descriptors::extensions_of(std::string_view type) const {
  const auto found = extensions_.find(type);
  if (found == extensions_.end()) {
    return Error{Code::not_found, "message \"" + std::string(type) + "\" is not known here"};
  }
  std::vector<int32_t> out;
  for (const auto& [number, file] : found->second) out.push_back(number);
  return out;
}

}  // namespace davit::host
