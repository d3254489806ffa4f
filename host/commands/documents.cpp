#include "documents.hpp"

#include <algorithm>
#include <map>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "batch.hpp"
#include "read_file.hpp"

#include "config/suggest.hpp"

namespace davit::host {

namespace {

namespace json = boost::json;

// The server accepts at most 4 MiB in a request.
constexpr size_t spec_bytes_max = 3 << 20;

const std::vector<std::string> fields = {"kind", "region", "id", "state", "annotations", "spec"};

// Returns a scalar as text: ids and annotations may look like numbers.
std::optional<std::string> scalar(const json::value& v) {
  if (v.is_string()) return std::string(v.get_string());
  if (v.is_structured() || v.is_null()) return std::nullopt;
  return json::serialize(v);
}

std::string to_document(const json::object& object, bool keys_only, SourceDocument& out) {
  for (const auto& [name, value] : object) {
    const std::string key(name);
    if (std::find(fields.begin(), fields.end(), key) == fields.end()) {
      const std::string near = nearest(key, fields);
      return out.fault(key,
                       "unknown field" + (near.empty() ? "" : " (did you mean \"" + near + "\"?)"));
    }
    if (key == "spec") {
      if (!value.is_object()) return out.fault(key, "must be an object");
      out.document.set_spec_json(json::serialize(value));
      if (out.document.spec_json().size() > spec_bytes_max)
        return out.fault(key, "is larger than 3 MiB, and no server takes more");
    } else if (key == "annotations") {
      if (!value.is_object()) return out.fault(key, "must be an object");
      for (const auto& [annotation, content] : value.get_object()) {
        auto text = scalar(content);
        if (!text) return out.fault("annotations." + std::string(annotation), "must be a string");
        (*out.document.mutable_annotations())[std::string(annotation)] = *text;
      }
    } else {
      auto text = scalar(value);
      if (!text) return out.fault(key, "must be a string");
      if (key == "kind") out.document.set_kind(*text);
      if (key == "region") out.document.set_region(*text);
      if (key == "id") out.document.set_id(*text);
      if (key == "state") out.document.set_state(*text);
    }
  }
  const auto& d = out.document;
  if (d.kind().empty()) return out.fault("kind", "is required");
  if (d.region().empty()) return out.fault("region", "is required");
  if (keys_only && d.id().empty()) return out.fault("id", "is required");
  if (!keys_only && d.spec_json().empty()) return out.fault("spec", "is required");
  if (d.ByteSizeLong() > document_bytes_max)
    return out.fault("", "is too large: no server takes a request of more than 4 MiB");
  return {};
}

void add_document(const json::value& value, const std::string& file, const YamlDocument& source,
                  const std::string& prefix, bool keys_only, Documents& out) {
  SourceDocument one{file, {}, source, prefix};
  std::string fault =
      value.is_object() ? to_document(value.get_object(), keys_only, one)
                        : one.fault("", "a document must be an object with kind, region and spec");
  if (fault.empty()) {
    out.good.push_back(std::move(one));
  } else {
    out.faults.push_back(std::move(fault));
  }
}

}  // namespace

std::string SourceDocument::fault(const std::string& field, const std::string& message) const {
  const std::string path = prefix.empty() || field.empty() ? prefix + field : prefix + "." + field;
  std::string out = file + ":" + std::to_string(source.line(path)) + ": ";
  if (!field.empty()) out += field + ": ";
  return out + message;
}

void add_documents(const std::string& text, const std::string& file, bool keys_only,
                   Documents& out) {
  auto read = read_yaml(text, file);
  if (!read.ok()) {
    out.faults.push_back(read.error().where + ": " + read.error().message);
    return;
  }
  for (const auto& source : *read) {
    if (!source.value.is_array()) {
      add_document(source.value, file, source, "", keys_only, out);
      continue;
    }
    size_t index = 0;  // `get -o json` prints several documents as one array
    for (const auto& item : source.value.get_array()) {
      add_document(item, file, source, "[" + std::to_string(index++) + "]", keys_only, out);
    }
  }
}

Documents read_documents(const std::vector<std::string>& files, bool keys_only) {
  Documents out;
  for (const auto& file : files) {
    const bool piped = file == "-";
    auto text = piped ? read_standard_input() : read_file(file);
    if (text.ok()) {
      add_documents(*text, piped ? "<stdin>" : file, keys_only, out);
    } else {
      out.faults.push_back(text.error().message);
    }
  }
  return out;
}

json::object to_json(const v1::Document& d) {
  json::object out;
  out["kind"] = d.kind();
  out["region"] = d.region();
  out["id"] = d.id();
  out["state"] = d.state();
  if (!d.annotations().empty()) {
    std::map<std::string, std::string> sorted(d.annotations().begin(), d.annotations().end());
    json::object annotations;
    for (const auto& [key, value] : sorted) annotations[key] = value;
    out["annotations"] = std::move(annotations);
  }
  boost::system::error_code error;
  out["spec"] = json::parse(d.spec_json(), error);
  return out;
}

}  // namespace davit::host
