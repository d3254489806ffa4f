#include "schema.hpp"

#include <google/protobuf/descriptor.pb.h>

namespace davit::host {

namespace {

namespace pb = google::protobuf;

Error invalid(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

class FirstError : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element, const pb::Message*,
                ErrorLocation, const std::string& message) override {
    if (text.empty()) text = file + ": " + element + ": " + message;
  }
  std::string text;
};

// Adds files to a pool, each after its imports, whatever order the set has.
class Linker {
 public:
  Linker(const pb::FileDescriptorSet& set, pb::DescriptorPool& pool) : pool_(pool) {
    for (const auto& file : set.file()) files_.emplace(file.name(), Entry{&file, State::waiting});
  }
  Result<> add(const std::string& name) {
    const auto found = files_.find(name);
    if (found == files_.end())
      return invalid("descriptor set: \"" + name + "\" is imported but not in the set");
    Entry& entry = found->second;
    if (entry.state == State::done) return {};
    if (entry.state == State::open)
      return invalid("descriptor set: \"" + name + "\" imports itself");
    entry.state = State::open;
    for (const auto& import : entry.file->dependency()) {
      if (auto r = add(import); !r.ok()) return r;
    }
    FirstError errors;
    if (pool_.BuildFileCollectingErrors(*entry.file, &errors) == nullptr) {
      return invalid("descriptor set: " + errors.text);
    }
    entry.state = State::done;
    return {};
  }

 private:
  enum class State { waiting, open, done };
  struct Entry {
    const pb::FileDescriptorProto* file;
    State state;
  };
  std::unordered_map<std::string, Entry> files_;
  pb::DescriptorPool& pool_;
};

void collect(const pb::Descriptor* type, davit_schema& schema) {
  schema.types.emplace(type->full_name(), type);
  for (int i = 0; i < type->nested_type_count(); ++i) collect(type->nested_type(i), schema);
}

}  // namespace

Result<std::unique_ptr<davit_schema>> make_schema(std::string_view descriptor_set,
                                                  const std::vector<std::string>& json_fields,
                                                  Comments comments) {
  pb::FileDescriptorSet set;
  if (descriptor_set.size() > message_bytes_max ||
      !set.ParseFromArray(descriptor_set.data(), static_cast<int>(descriptor_set.size()))) {
    return invalid("descriptor set: not a google.protobuf.FileDescriptorSet");
  }
  if (comments == Comments::left_out) {
    for (auto& file : *set.mutable_file()) file.clear_source_code_info();
  }
  auto schema = std::make_unique<davit_schema>();
  Linker linker(set, schema->pool);
  for (const auto& file : set.file()) {
    if (auto r = linker.add(file.name()); !r.ok()) return r.error();
    const pb::FileDescriptor* built = schema->pool.FindFileByName(file.name());
    for (int i = 0; i < built->message_type_count(); ++i) collect(built->message_type(i), *schema);
  }
  for (const auto& name : json_fields) {
    const pb::FieldDescriptor* field = schema->pool.FindFieldByName(name);
    if (field == nullptr || field->type() != pb::FieldDescriptor::TYPE_BYTES) {
      return invalid("json field \"" + name + "\" is not a bytes field of the descriptor set");
    }
    schema->json_fields.insert(field);
  }
  return schema;
}

Result<pb::Message*> new_message(const davit_schema& schema, std::string_view type,
                                 pb::Arena& arena) {
  const auto found = schema.types.find(std::string(type));
  if (found == schema.types.end()) {
    return invalid("message type \"" + std::string(type) + "\" is not in the descriptor set");
  }
  // Creating a prototype is thread-safe and has no visible effect.
  auto& factory = const_cast<pb::DynamicMessageFactory&>(schema.factory);
  return factory.GetPrototype(found->second)->New(&arena);
}

Result<pb::Message*> read_message(const davit_schema& schema, std::string_view type,
                                  std::string_view bytes, pb::Arena& arena) {
  auto message = new_message(schema, type, arena);
  if (!message.ok()) return message;
  if (bytes.size() > message_bytes_max ||
      !(*message)->ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return invalid("the bytes are not a " + std::string(type));
  }
  return message;
}

}  // namespace davit::host
