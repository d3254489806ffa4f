#include "explain_kind.hpp"

#include <algorithm>
#include <vector>

#include <davit/v1/operator.pb.h>

#include "codec/schema.hpp"
#include "config/suggest.hpp"
#include "text_table.hpp"

namespace davit::host {

namespace {

namespace pb = google::protobuf;

constexpr size_t explained_columns = 78;

std::string indented(const std::string& text, size_t indent) {
  std::string out;
  for (const std::string& line : wrapped(text, explained_columns - indent))
    out += std::string(indent, ' ') + line + "\n";
  return out;
}

// A comment as one paragraph. Empty: there is none.
template <class Descriptor>
std::string comment_of(const Descriptor* d) {
  pb::SourceLocation place;
  if (!d->GetSourceLocation(&place)) return {};
  const std::string& text =
      place.leading_comments.empty() ? place.trailing_comments : place.leading_comments;
  std::string out;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return harmless(out);
}

class KindExplainer {
 public:
  KindExplainer(const v1::KindFields& kind, const davit_schema& schema)
      : kind_(kind), schema_(schema) {}

  Result<std::string> explain(const std::string& path) const {
    const auto spec = schema_.types.find(kind_.spec_type());
    if (spec == schema_.types.end()) {
      return Error{Code::invalid_argument, "kind \"" + kind_.kind() + "\" names the message \"" +
                                               kind_.spec_type() + "\", which it does not have"};
    }
    const pb::Descriptor* type = spec->second;
    const pb::FieldDescriptor* field = nullptr;
    std::string shown = "spec";
    for (const std::string& name : names_of(path)) {
      if (type == nullptr)
        return Error{Code::not_found, shown + " is " + type_of(*field) + " and has no fields"};
      const pb::FieldDescriptor* next = type->FindFieldByName(name);
      if (next == nullptr) return no_field(*type, shown, name);
      field = next;
      type = message_of(*field);
      shown += "." + name;
    }
    return text_of(shown, field, type);
  }

 private:
  // Without a "spec" in front, and without what stands in brackets.
  static std::vector<std::string> names_of(const std::string& path) {
    std::vector<std::string> out;
    for (size_t at = 0; at < path.size();) {
      const size_t end = std::min(path.find('.', at), path.size());
      std::string name = path.substr(at, end - at);
      name = name.substr(0, name.find('['));
      if (!name.empty()) out.push_back(std::move(name));
      at = end + 1;
    }
    if (!out.empty() && out.front() == "spec") out.erase(out.begin());
    return out;
  }

  // The message that a field holds, or of which it holds a list. NULL: it holds none with fields to
  // name, as a map by name does.
  static const pb::Descriptor* message_of(const pb::FieldDescriptor& field) {
    if (field.is_map()) return field.message_type()->map_value()->message_type();
    return field.message_type();
  }

  std::string type_of(const pb::FieldDescriptor& field) const {
    if (field.is_map())
      return single_type_of(*field.message_type()->map_value(), true) + " by name";
    const std::string one = single_type_of(field, field.is_repeated());
    return field.is_repeated() ? "list of " + one : one;
  }
  std::string single_type_of(const pb::FieldDescriptor& field, bool several) const {
    switch (field.cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_STRING:
        if (field.type() != pb::FieldDescriptor::TYPE_BYTES) return several ? "texts" : "text";
        return schema_.holds_json(&field) ? "JSON" : "base64";
      case pb::FieldDescriptor::CPPTYPE_BOOL:
        return "true or false";
      case pb::FieldDescriptor::CPPTYPE_ENUM:
        return words_of(*field.enum_type());
      case pb::FieldDescriptor::CPPTYPE_MESSAGE:
        return field.message_type()->name();
      default:
        return several ? "numbers" : "number";
    }
  }
  static std::string words_of(const pb::EnumDescriptor& words) {
    std::string out;
    for (int n = 0; n < words.value_count(); ++n)
      out += (n == 0 ? "" : "|") + words.value(n)->name();
    return out;
  }

  Error no_field(const pb::Descriptor& type, const std::string& of, const std::string& name) const {
    std::vector<std::string> names;
    for (int n = 0; n < type.field_count(); ++n) names.push_back(type.field(n)->name());
    const std::string near = nearest(name, names);
    std::string all;
    for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
    return {Code::not_found,
            of + " of kind \"" + kind_.kind() + "\" has no field \"" + name + "\"" +
                (near.empty() ? "; it has " + all : "; did you mean \"" + near + "\"?")};
  }

  std::string text_of(const std::string& shown, const pb::FieldDescriptor* field,
                      const pb::Descriptor* type) const {
    std::string out = "KIND:  " + kind_.kind() + "\n";
    out += "FIELD: " + shown + " (" + (field == nullptr ? type->name() : type_of(*field)) + ")\n";
    std::string about = field == nullptr ? comment_of(type) : comment_of(field);
    if (field == nullptr && !kind_.default_state().empty())
      about += (about.empty() ? "" : " ") + std::string("The state of a document is \"") +
               kind_.default_state() + "\" unless it has another.";
    if (!about.empty()) out += "\n" + indented(about, 2);
    if (type != nullptr) out += fields_of(*type);
    if (!any_comment(*type_for_comments(field, type)))
      out +=
          "\nthe kind's plugin has no comments in its descriptor set (protoc "
          "--include_source_info)\n";
    return out;
  }
  std::string fields_of(const pb::Descriptor& type) const {
    std::string out = "\nFIELDS:\n";
    for (int n = 0; n < type.field_count(); ++n) {
      const pb::FieldDescriptor& field = *type.field(n);
      out += "  " + field.name() + "  <" + type_of(field) + ">\n";
      const std::string comment = comment_of(&field);
      if (!comment.empty()) out += indented(comment, 4);
    }
    return out;
  }
  static const pb::Descriptor* type_for_comments(const pb::FieldDescriptor* field,
                                                 const pb::Descriptor* type) {
    return field != nullptr ? field->containing_type() : type;
  }
  static bool any_comment(const pb::Descriptor& type) {
    for (int n = 0; n < type.field_count(); ++n) {
      if (!comment_of(type.field(n)).empty()) return true;
    }
    return type.field_count() == 0;
  }

  const v1::KindFields& kind_;
  const davit_schema& schema_;
};

}  // namespace

Result<std::string> explain_kind(const v1::KindFields& kind, const std::string& path) {
  const auto schema =
      make_schema(kind.descriptor_set(), {kind.json_fields().begin(), kind.json_fields().end()},
                  Comments::kept);
  if (!schema.ok()) return schema.error().in("kind \"" + kind.kind() + "\"");
  return KindExplainer(kind, **schema).explain(path);
}

}  // namespace davit::host
