#include "compatible.hpp"

#include <algorithm>
#include <map>

namespace davit::proto {
namespace {

using namespace google::protobuf;

template <class T>
using ByName = std::map<std::string, const T*>;

void collect(const DescriptorProto& message, const std::string& within,
             ByName<DescriptorProto>& messages, ByName<EnumDescriptorProto>& enums) {
  const std::string name = within + "." + message.name();
  messages[name] = &message;
  for (const auto& inner : message.nested_type()) collect(inner, name, messages, enums);
  for (const auto& inner : message.enum_type()) enums[name + "." + inner.name()] = &inner;
}

// All that a set defines, by full name.
struct Defined {
  ByName<DescriptorProto> messages;
  ByName<EnumDescriptorProto> enums;
  ByName<ServiceDescriptorProto> services;

  explicit Defined(const FileDescriptorSet& set) {
    for (const auto& file : set.file()) {
      const std::string package = "." + file.package();
      for (const auto& m : file.message_type()) collect(m, package, messages, enums);
      for (const auto& e : file.enum_type()) enums[package + "." + e.name()] = &e;
      for (const auto& s : file.service()) services[package + "." + s.name()] = &s;
    }
  }
};

// The element of `all` with this number or name; NULL: there is none.
template <class All, class Is>
auto find_if(const All& all, Is is) -> decltype(&*all.begin()) {
  const auto found = std::find_if(all.begin(), all.end(), is);
  return found == all.end() ? nullptr : &*found;
}

template <class Type>
bool keeps_name(const Type& type, const std::string& name) {
  const auto& names = type.reserved_name();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The end of a range is not part of it in a message, and is in an enum.
int last_of(const DescriptorProto::ReservedRange& range) {
  return range.end() - 1;
}
int last_of(const EnumDescriptorProto::EnumReservedRange& range) {
  return range.end();
}

template <class Type>
bool keeps_number(const Type& type, int number) {
  return find_if(type.reserved_range(), [number](const auto& range) {
           return range.start() <= number && number <= last_of(range);
         }) != nullptr;
}

std::string type_of(const FieldDescriptorProto& f) {
  std::string out =
      f.type_name().empty() ? FieldDescriptorProto::Type_Name(f.type()) : f.type_name();
  if (f.label() == FieldDescriptorProto::LABEL_REPEATED) out = "repeated " + out;
  return f.proto3_optional() ? "optional " + out : out;
}

std::string oneof_of(const DescriptorProto& type, const FieldDescriptorProto& f) {
  return f.has_oneof_index() && !f.proto3_optional() ? type.oneof_decl(f.oneof_index()).name()
                                                     : std::string();
}

class Comparison {
 public:
  Comparison(const FileDescriptorSet& before, const FileDescriptorSet& now)
      : before_(before), now_(now) {}

  std::vector<std::string> breaks() {
    each(before_.messages, now_.messages,
         [this](const auto& name, const auto& was, const auto& is) {
           for (const auto& field : was.field()) compare(name, was, field, is);
           reserved(name, was, is, is.field());
         });
    each(before_.enums, now_.enums, [this](const auto& name, const auto& was, const auto& is) {
      for (const auto& value : was.value()) compare(name, value, is);
      reserved(name, was, is, is.value());
    });
    each(before_.services, now_.services,
         [this](const auto& name, const auto& was, const auto& is) {
           for (const auto& method : was.method()) compare(name, method, is);
         });
    return std::move(out_);
  }

 private:
  void fault(const std::string& where, const std::string& what) {
    out_.push_back(where.substr(1) + ": " + what);
  }

  template <class T, class Compare>
  void each(const ByName<T>& before, const ByName<T>& now, Compare compare) {
    for (const auto& [name, was] : before) {
      const auto is = now.find(name);
      if (is == now.end()) {
        fault(name, "is gone");
      } else {
        compare(name, *was, *is->second);
      }
    }
  }

  // A field or value that is gone must leave its number and its name in `reserved`.
  template <class Type>
  void gone(const std::string& where, const std::string& name, int number, const Type& is) {
    if (!keeps_number(is, number)) fault(where, "is gone and its number is not reserved");
    if (!keeps_name(is, name)) fault(where, "is gone and its name is not reserved");
  }

  void compare(const std::string& message, const DescriptorProto& before,
               const FieldDescriptorProto& was, const DescriptorProto& now) {
    const std::string where = message + "." + was.name();
    const auto* is =
        find_if(now.field(), [&](const auto& f) { return f.number() == was.number(); });
    if (is == nullptr) return gone(where, was.name(), was.number(), now);
    if (is->name() != was.name()) fault(where, "is called " + is->name() + " now");
    if (type_of(*is) != type_of(was)) fault(where, "is " + type_of(*is) + " now");
    if (oneof_of(now, *is) != oneof_of(before, was)) fault(where, "is in another oneof now");
  }

  void compare(const std::string& name, const EnumValueDescriptorProto& was,
               const EnumDescriptorProto& now) {
    const std::string where = name + "." + was.name();
    const auto* is =
        find_if(now.value(), [&](const auto& v) { return v.number() == was.number(); });
    if (is == nullptr) return gone(where, was.name(), was.number(), now);
    if (is->name() != was.name()) fault(where, "is called " + is->name() + " now");
  }

  void compare(const std::string& service, const MethodDescriptorProto& was,
               const ServiceDescriptorProto& now) {
    const std::string where = service + "." + was.name();
    const auto* is = find_if(now.method(), [&](const auto& m) { return m.name() == was.name(); });
    if (is == nullptr) return fault(where, "is gone");
    if (is->input_type() != was.input_type()) fault(where, "takes another message now");
    if (is->output_type() != was.output_type()) fault(where, "answers another message now");
    if (is->client_streaming() != was.client_streaming() ||
        is->server_streaming() != was.server_streaming())
      fault(where, "streams in another way now");
  }

  // What was reserved stays so, unless a field with both the name and the number takes its place.
  template <class Type, class Members>
  void reserved(const std::string& where, const Type& was, const Type& is, const Members& members) {
    for (const auto& range : was.reserved_range()) {
      const int last = std::min(last_of(range), range.start() + 999);  // "5 to max" is long
      for (int number = range.start(); number <= last; ++number) {
        if (keeps_number(is, number)) continue;
        const auto* taker = find_if(members, [&](const auto& m) { return m.number() == number; });
        if (taker == nullptr || !keeps_name(was, taker->name()))
          fault(where, "number " + std::to_string(number) + " is no longer reserved");
      }
    }
    for (const auto& name : was.reserved_name()) {
      if (keeps_name(is, name)) continue;
      const auto* taker = find_if(members, [&](const auto& m) { return m.name() == name; });
      if (taker == nullptr || !keeps_number(was, taker->number()))
        fault(where, "name " + name + " is no longer reserved");
    }
  }

  const Defined before_, now_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> breaks(const FileDescriptorSet& before, const FileDescriptorSet& now) {
  return Comparison(before, now).breaks();
}

}  // namespace davit::proto
