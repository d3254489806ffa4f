#include "from_json.hpp"

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>

#include "json.hpp"
#include "scalar.hpp"
#include "schema.hpp"
#include "well_known.hpp"

#include "config/suggest.hpp"

namespace davit::host {

namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

class Reader {
 public:
  explicit Reader(const davit_schema& schema) : schema_(schema) {}

  Result<> message(const Json& json, pb::Message& m) {
    if (is_well_known(*m.GetDescriptor())) return located(read_well_known(json, m));
    if (json.type != Json::Type::object)
      return fault(std::string("must be an object, not ") + json.type_name());
    std::unordered_set<const void*> seen;  // fields and oneofs
    for (size_t i = 0; i < json.items.size(); ++i) {
      const Step step(*this, json.keys[i]);
      const Field* f = find(*m.GetDescriptor(), json.keys[i]);
      if (f == nullptr) return unknown(*m.GetDescriptor(), json.keys[i]);
      if (!seen.insert(f).second) return fault("is given twice");
      if (json.items[i].type == Json::Type::null && !takes_null(*f)) continue;
      const auto* oneof = f->real_containing_oneof();
      if (oneof != nullptr && !seen.insert(oneof).second) {
        return fault("only one field of \"" + oneof->name() + "\" may be given");
      }
      if (auto r = field(json.items[i], m, *f); !r.ok()) return r;
    }
    return {};
  }

 private:
  // Adds one step to the reader's path for its own lifetime.
  class Step {
   public:
    Step(Reader& r, const std::string& name) : reader_(r), length_(r.path_.size()) {
      if (length_ > 0) r.path_ += '.';
      r.path_ += name;
    }
    Step(Reader& r, int index) : reader_(r), length_(r.path_.size()) {
      r.path_ += "[" + std::to_string(index) + "]";
    }
    struct Key {
      const std::string& text;
    };
    Step(Reader& r, Key key) : reader_(r), length_(r.path_.size()) {
      r.path_ += '[';
      write_json_string(key.text, r.path_);
      r.path_ += ']';
    }
    ~Step() { reader_.path_.resize(length_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    Reader& reader_;
    size_t length_;
  };

  Result<> fault(std::string message) const {
    return Error{Code::invalid_argument, std::move(message), path_};
  }
  Result<> located(Result<> r) const { return r.ok() ? r : fault(r.error().message); }

  // Accepts proto names, and the lowerCamelCase names that any proto3 JSON writer may use.
  static const Field* find(const pb::Descriptor& type, const std::string& name) {
    const Field* f = type.FindFieldByName(name);
    return f != nullptr ? f : type.FindFieldByCamelcaseName(name);
  }
  static bool takes_null(const Field& f) {
    return f.cpp_type() == Field::CPPTYPE_MESSAGE && !f.is_repeated() &&
           f.message_type()->well_known_type() == pb::Descriptor::WELLKNOWNTYPE_VALUE;
  }
  Result<> unknown(const pb::Descriptor& type, const std::string& name) const {
    std::vector<std::string> names;
    for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
    const std::string near = nearest(name, names);
    return fault(near.empty() ? "unknown field" : "unknown field, did you mean \"" + near + "\"?");
  }

  Result<> field(const Json& json, pb::Message& m, const Field& f) {
    if (f.is_map()) return map(json, m, f);
    if (!f.is_repeated()) return value(json, m, f);
    if (json.type != Json::Type::array)
      return fault(std::string("must be an array, not ") + json.type_name());
    int index = 0;
    for (const Json& item : json.items) {
      const Step step(*this, index++);
      if (item.type == Json::Type::null && f.cpp_type() != Field::CPPTYPE_MESSAGE)
        return fault("must not be null");
      if (auto r = value(item, m, f); !r.ok()) return r;
    }
    return {};
  }

  Result<> map(const Json& json, pb::Message& m, const Field& f) {
    if (json.type != Json::Type::object)
      return fault(std::string("must be an object, not ") + json.type_name());
    std::unordered_set<std::string_view> seen;
    for (size_t i = 0; i < json.items.size(); ++i) {
      const Step step(*this, Step::Key{json.keys[i]});
      if (!seen.insert(json.keys[i]).second) return fault("is given twice");
      auto key = read_key(*f.message_type()->map_key(), json.keys[i]);
      if (!key.ok()) return fault(key.error().message);
      pb::Message* entry = m.GetReflection()->AddMessage(&m, &f);
      store(std::move(*key), *entry, *f.message_type()->map_key());
      if (auto r = value(json.items[i], *entry, *f.message_type()->map_value()); !r.ok()) return r;
    }
    return {};
  }

  // Reads one value into a singular field, or appends it to a repeated one.
  Result<> value(const Json& json, pb::Message& m, const Field& f) {
    if (f.cpp_type() == Field::CPPTYPE_MESSAGE) {
      const auto* r = m.GetReflection();
      return message(json, f.is_repeated() ? *r->AddMessage(&m, &f) : *r->MutableMessage(&m, &f));
    }
    auto scalar = read_scalar(f, schema_.holds_json(&f), json);
    if (!scalar.ok()) return fault(scalar.error().message);
    store(std::move(*scalar), m, f);
    return {};
  }

  const davit_schema& schema_;
  std::string path_;
};

// Map entries are written in a fixed order.
bool serialize(const pb::Message& m, std::string& out) {
  if (m.ByteSizeLong() > message_bytes_max) return false;
  pb::io::StringOutputStream stream(&out);
  pb::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  m.SerializeWithCachedSizes(&coded);
  return !coded.HadError();
}

}  // namespace

Result<std::string> from_json(const davit_schema& schema, std::string_view type,
                              std::string_view text) {
  pb::Arena arena;
  const auto message = new_message(schema, type, arena);
  if (!message.ok()) return message.error();
  const auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  if (auto r = Reader(schema).message(*json, **message); !r.ok()) return r.error();
  if (!(*message)->IsInitialized()) {
    return Error{Code::invalid_argument,
                 "required fields are missing: " + (*message)->InitializationErrorString()};
  }
  std::string out;
  if (!serialize(**message, out)) {
    return Error{Code::invalid_argument,
                 "the message is larger than " + std::to_string(message_bytes_max) + " bytes"};
  }
  return out;
}

}  // namespace davit::host
