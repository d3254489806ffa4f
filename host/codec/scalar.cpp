#include "scalar.hpp"

#include <google/protobuf/message.h>
#include <charconv>
#include <cmath>
#include <limits>

#include <davit/base64.hpp>
#include <davit/utf8.hpp>

#include "json.hpp"
#include "to_json.hpp"

#include "config/suggest.hpp"

namespace davit::host {

namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

Error refused(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

Error unexpected(const char* wanted, const Json& json) {
  return refused(std::string("must be ") + wanted + ", not " + json.type_name());
}

constexpr size_t shown = 64;  // long enough to recognise, short enough for a log line

std::string in_quotes(std::string_view text) {
  std::string out;
  write_json_string(shortened(text, shown), out);
  return out;
}

bool is_number(std::string_view text) {
  if (text.empty() || text.size() > 1024 ||
      text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) {
    return false;
  }
  const auto json = Json::parse(text);
  return json.ok() && json->type == Json::Type::number;
}

// 1e3 and 5.0 count as integers.
template <class T>
Result<Scalar> read_integer(std::string_view text) {
  Decimal d;
  constexpr int64_t digits_max = 20;
  std::string written;
  if (decimal(text, d) && d.exponent >= 0 &&
      static_cast<int64_t>(d.digits.size()) + d.exponent <= digits_max) {
    written = (d.negative ? "-" : "") +
              (d.digits.empty() ? "0" : d.digits + std::string(d.exponent, '0'));
  } else if (d.exponent < 0) {
    return refused("must be a whole number, not " + shortened(text, shown));
  }
  T value{};
  const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), value);
  if (error == std::errc() && end == written.data() + written.size() && !written.empty())
    return Scalar(value);
  using Limits = std::numeric_limits<T>;
  return refused("must be between " + std::to_string(Limits::min()) + " and " +
                 std::to_string(Limits::max()) + ", not " + shortened(text, shown));
}

template <class T>
Result<Scalar> integer(const Json& json) {
  if (json.type == Json::Type::number) return read_integer<T>(json.text);
  if (json.type != Json::Type::string) return unexpected("an integer", json);
  if (!is_number(json.text)) return refused("must be an integer, not " + in_quotes(json.text));
  return read_integer<T>(json.text);
}

template <class T>
Result<Scalar> real(const Json& json) {
  if (json.type != Json::Type::number && json.type != Json::Type::string)
    return unexpected("a number", json);
  const std::string& s = json.text;
  if (json.type == Json::Type::string) {
    using Limits = std::numeric_limits<T>;
    if (s == "NaN") return Scalar(Limits::quiet_NaN());
    if (s == "Infinity") return Scalar(Limits::infinity());
    if (s == "-Infinity") return Scalar(-Limits::infinity());
    if (!is_number(s)) return refused("must be a number, not " + in_quotes(s));
  }
  T value{};
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error == std::errc::result_out_of_range) {
    Decimal d;  // too small becomes zero; too large is a fault
    const bool tiny = decimal(s, d) ? d.exponent + static_cast<int64_t>(d.digits.size()) < 0
                                    : s.find("e-") != s.npos || s.find("E-") != s.npos;
    if (tiny) return Scalar(T{0});
    return refused("is out of range: " + shortened(s, shown));
  }
  if (error != std::errc() || end != s.data() + s.size())
    return refused("must be a number, not " + in_quotes(s));
  return Scalar(value);
}

Result<Scalar> enumerator(const Field& f, const Json& json) {
  const pb::EnumDescriptor* type = f.enum_type();
  if (json.type == Json::Type::number) {
    const auto number = read_integer<int32_t>(json.text);
    if (!number.ok()) return number;
    const int value = std::get<int32_t>(*number);
    const bool closed = type->file()->syntax() == pb::FileDescriptor::SYNTAX_PROTO2;
    if (closed && type->FindValueByNumber(value) == nullptr) {
      return refused(std::to_string(value) + " is not a value of " + type->full_name());
    }
    return Scalar(EnumNumber{value});
  }
  if (json.type != Json::Type::string) return unexpected("a name", json);
  if (const auto* v = type->FindValueByName(json.text)) return Scalar(EnumNumber{v->number()});
  std::vector<std::string> names;
  for (int i = 0; i < type->value_count(); ++i) names.push_back(type->value(i)->name());
  const std::string near = nearest(json.text, names);
  std::string advice;
  if (!near.empty()) {
    advice = ", did you mean \"" + near + "\"?";
  } else {
    constexpr size_t listed = 8;
    for (size_t i = 0; i < names.size() && i < listed; ++i)
      advice += (i == 0 ? " (one of " : ", ") + names[i];
    advice += names.size() > listed ? ", ...)" : ")";
  }
  return refused("unknown value " + in_quotes(json.text) + advice);
}

Result<Scalar> nested(const Json& json) {
  const Json* raw = json.items.size() == 1 ? json.find(raw_bytes_key) : nullptr;
  if (raw != nullptr) {
    auto bytes = raw->type == Json::Type::string ? from_base64(raw->text) : std::nullopt;
    if (!bytes) return refused("\"" + std::string(raw_bytes_key) + "\" must be base64 text");
    return Scalar(std::move(*bytes));
  }
  std::string text;
  json.write(text);
  return Scalar(std::move(text));
}

Result<Scalar> text(const Field& f, bool holds_json, const Json& json) {
  if (holds_json) return nested(json);
  if (json.type != Json::Type::string) {
    return unexpected(f.type() == Field::TYPE_BYTES ? "base64 text" : "a string", json);
  }
  if (f.type() == Field::TYPE_STRING) return Scalar(json.text);
  auto bytes = from_base64(json.text);
  if (!bytes) return refused("must be base64 text");
  return Scalar(std::move(*bytes));
}

}  // namespace

Result<Scalar> read_scalar(const Field& f, bool holds_json, const Json& json) {
  switch (f.cpp_type()) {
    case Field::CPPTYPE_INT32:
      return integer<int32_t>(json);
    case Field::CPPTYPE_INT64:
      return integer<int64_t>(json);
    case Field::CPPTYPE_UINT32:
      return integer<uint32_t>(json);
    case Field::CPPTYPE_UINT64:
      return integer<uint64_t>(json);
    case Field::CPPTYPE_FLOAT:
      return real<float>(json);
    case Field::CPPTYPE_DOUBLE:
      return real<double>(json);
    case Field::CPPTYPE_ENUM:
      return enumerator(f, json);
    case Field::CPPTYPE_STRING:
      return text(f, holds_json, json);
    case Field::CPPTYPE_BOOL:
      if (json.type == Json::Type::boolean) return Scalar(json.truth);
      return unexpected("true or false", json);
    case Field::CPPTYPE_MESSAGE:
      break;
  }
  return Error{Code::internal, "a message is not a scalar"};
}

Result<Scalar> read_key(const Field& f, std::string_view key) {
  Json json;
  json.type = Json::Type::string;
  json.text = key;
  if (f.cpp_type() != Field::CPPTYPE_BOOL) return read_scalar(f, false, json);
  if (key == "true" || key == "false") return Scalar(key == "true");
  return refused("key must be true or false, not " + in_quotes(key));
}

void store(Scalar scalar, pb::Message& m, const Field& f) {
  const auto* r = m.GetReflection();
  const bool add = f.is_repeated();
  std::visit(
      [&](auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, int32_t>) {
          add ? r->AddInt32(&m, &f, v) : r->SetInt32(&m, &f, v);
        } else if constexpr (std::is_same_v<T, int64_t>) {
          add ? r->AddInt64(&m, &f, v) : r->SetInt64(&m, &f, v);
        } else if constexpr (std::is_same_v<T, uint32_t>) {
          add ? r->AddUInt32(&m, &f, v) : r->SetUInt32(&m, &f, v);
        } else if constexpr (std::is_same_v<T, uint64_t>) {
          add ? r->AddUInt64(&m, &f, v) : r->SetUInt64(&m, &f, v);
        } else if constexpr (std::is_same_v<T, float>) {
          add ? r->AddFloat(&m, &f, v) : r->SetFloat(&m, &f, v);
        } else if constexpr (std::is_same_v<T, double>) {
          add ? r->AddDouble(&m, &f, v) : r->SetDouble(&m, &f, v);
        } else if constexpr (std::is_same_v<T, bool>) {
          add ? r->AddBool(&m, &f, v) : r->SetBool(&m, &f, v);
        } else if constexpr (std::is_same_v<T, EnumNumber>) {
          add ? r->AddEnumValue(&m, &f, v.value) : r->SetEnumValue(&m, &f, v.value);
        } else {
          add ? r->AddString(&m, &f, std::move(v)) : r->SetString(&m, &f, std::move(v));
        }
      },
      scalar);
}

}  // namespace davit::host
