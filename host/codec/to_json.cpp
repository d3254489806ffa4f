#include "to_json.hpp"

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>
#include <algorithm>
#include <charconv>
#include <cmath>

#include <davit/base64.hpp>
#include <davit/utf8.hpp>

#include "json.hpp"
#include "schema.hpp"
#include "well_known.hpp"

namespace davit::host {

namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

template <class T>
void write_number(T value, std::string& out) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}

template <class T>
void write_quoted(T value, std::string& out) {
  out += '"';
  write_number(value, out);
  out += '"';
}

template <class T>
void write_real(T value, std::string& out) {
  if (std::isnan(value)) {
    out += "\"NaN\"";
  } else if (std::isinf(value)) {
    out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    write_number(value, out);
  }
}

void write_nested(const std::string& bytes, std::string& out) {
  const auto json = Json::parse(bytes);
  const bool showable =
      json.ok() && json->type != Json::Type::null && json->find(raw_bytes_key) == nullptr;
  if (showable) return json->write(out);
  out += "{\"";
  out += raw_bytes_key;
  out += "\":\"" + base64(bytes) + "\"}";
}

class Printer {
 public:
  Printer(const davit_schema& schema, std::string& out) : schema_(schema), out_(out) {}

  Result<> message(const pb::Message& m) {
    if (is_well_known(*m.GetDescriptor())) return print_well_known(m, out_);
    std::vector<const Field*> fields;
    m.GetReflection()->ListFields(m, &fields);
    out_ += '{';
    bool first = true;
    for (const Field* f : fields) {
      if (f->is_extension()) continue;  // has no JSON name of its own
      if (!first) out_ += ',';
      first = false;
      write_json_string(f->name(), out_);
      out_ += ':';
      if (auto r = field(m, f); !r.ok()) return r;
    }
    out_ += '}';
    return {};
  }

 private:
  Result<> field(const pb::Message& m, const Field* f) {
    if (f->is_map()) return map(m, f);
    if (!f->is_repeated()) return value(m, f, -1);
    out_ += '[';
    for (int i = 0; i < m.GetReflection()->FieldSize(m, f); ++i) {
      if (i > 0) out_ += ',';
      if (auto r = value(m, f, i); !r.ok()) return r;
    }
    out_ += ']';
    return {};
  }

  Result<> map(const pb::Message& m, const Field* f) {
    const auto* r = m.GetReflection();
    const Field* key = f->message_type()->map_key();
    const Field* mapped = f->message_type()->map_value();
    std::vector<std::pair<std::string, const pb::Message*>> entries;
    for (int i = 0; i < r->FieldSize(m, f); ++i) {
      const pb::Message& entry = r->GetRepeatedMessage(m, f, i);
      entries.emplace_back(key_text(entry, key), &entry);
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    out_ += '{';
    bool first = true;
    for (size_t i = 0; i < entries.size(); ++i) {
      // The bytes may contain a key twice: the last one counts.
      if (i + 1 < entries.size() && entries[i + 1].first == entries[i].first) continue;
      if (!first) out_ += ',';
      first = false;
      write_json_string(entries[i].first, out_);
      out_ += ':';
      if (auto done = value(*entries[i].second, mapped, -1); !done.ok()) return done;
    }
    out_ += '}';
    return {};
  }

  static std::string key_text(const pb::Message& entry, const Field* key) {
    const auto* r = entry.GetReflection();
    switch (key->cpp_type()) {
      case Field::CPPTYPE_INT32:
        return std::to_string(r->GetInt32(entry, key));
      case Field::CPPTYPE_INT64:
        return std::to_string(r->GetInt64(entry, key));
      case Field::CPPTYPE_UINT32:
        return std::to_string(r->GetUInt32(entry, key));
      case Field::CPPTYPE_UINT64:
        return std::to_string(r->GetUInt64(entry, key));
      case Field::CPPTYPE_BOOL:
        return r->GetBool(entry, key) ? "true" : "false";
      default:
        return r->GetString(entry, key);  // nothing else can be a key
    }
  }

  // index -1: a singular field.
  Result<> value(const pb::Message& m, const Field* f, int index) {
    const auto* r = m.GetReflection();
    const bool one = index < 0;
    switch (f->cpp_type()) {
      case Field::CPPTYPE_INT32:
        write_number(one ? r->GetInt32(m, f) : r->GetRepeatedInt32(m, f, index), out_);
        return {};
      case Field::CPPTYPE_UINT32:
        write_number(one ? r->GetUInt32(m, f) : r->GetRepeatedUInt32(m, f, index), out_);
        return {};
      case Field::CPPTYPE_INT64:
        write_quoted(one ? r->GetInt64(m, f) : r->GetRepeatedInt64(m, f, index), out_);
        return {};
      case Field::CPPTYPE_UINT64:
        write_quoted(one ? r->GetUInt64(m, f) : r->GetRepeatedUInt64(m, f, index), out_);
        return {};
      case Field::CPPTYPE_DOUBLE:
        write_real(one ? r->GetDouble(m, f) : r->GetRepeatedDouble(m, f, index), out_);
        return {};
      case Field::CPPTYPE_FLOAT:
        write_real(one ? r->GetFloat(m, f) : r->GetRepeatedFloat(m, f, index), out_);
        return {};
      case Field::CPPTYPE_BOOL:
        out_ += (one ? r->GetBool(m, f) : r->GetRepeatedBool(m, f, index)) ? "true" : "false";
        return {};
      case Field::CPPTYPE_ENUM:
        enumerator(f, one ? r->GetEnumValue(m, f) : r->GetRepeatedEnumValue(m, f, index));
        return {};
      case Field::CPPTYPE_MESSAGE:
        return message(one ? r->GetMessage(m, f) : r->GetRepeatedMessage(m, f, index));
      case Field::CPPTYPE_STRING:
        break;
    }
    std::string scratch;
    text(f, one ? r->GetStringReference(m, f, &scratch)
                : r->GetRepeatedStringReference(m, f, index, &scratch));
    return {};
  }

  void enumerator(const Field* f, int number) {
    const auto* known = f->enum_type()->FindValueByNumber(number);
    if (known != nullptr) {
      write_json_string(known->name(), out_);
    } else {
      write_number(number, out_);  // a value that only a newer peer knows
    }
  }

  void text(const Field* f, const std::string& s) {
    if (f->type() == Field::TYPE_STRING) {
      write_json_string(s, out_);
    } else if (schema_.holds_json(f)) {
      write_nested(s, out_);
    } else {
      out_ += '"' + base64(s) + '"';
    }
  }

  const davit_schema& schema_;
  std::string& out_;
};

}  // namespace

Result<std::string> to_json(const davit_schema& schema, std::string_view type,
                            std::string_view bytes) {
  pb::Arena arena;
  const auto message = read_message(schema, type, bytes, arena);
  if (!message.ok()) return message.error();
  std::string out;
  out.reserve(bytes.size() * 2 + 64);
  if (auto r = Printer(schema, out).message(**message); !r.ok()) return r.error();
  // protobuf does not check proto2 strings while parsing.
  if (!valid_utf8(out)) {
    return Error{Code::invalid_argument,
                 "a text of the " + std::string(type) + " is not valid UTF-8"};
  }
  return out;
}

}  // namespace davit::host
