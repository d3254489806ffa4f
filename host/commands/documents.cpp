#include "documents.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "batch.hpp"
#include "document_files.hpp"
#include "read_file.hpp"

#include "config/suggest.hpp"

namespace davit::host {

namespace {

namespace json = boost::json;

// The server accepts at most 4 MiB in a request.
constexpr size_t spec_bytes_max = 3 << 20;

const std::vector<std::string> fields = {"kind",        "region", "id",          "version",
                                         "incarnation", "state",  "annotations", "spec"};

// Returns a scalar as text: ids and annotations may look like numbers.
std::optional<std::string> scalar(const json::value& v) {
  if (v.is_string()) return std::string(v.get_string());
  if (v.is_structured() || v.is_null()) return std::nullopt;
  return json::serialize(v);
}

std::optional<uint64_t> number_of(const std::string& text) {
  uint64_t out = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out);
  return read.ec == std::errc() && read.ptr == end ? std::optional(out) : std::nullopt;
}

// A field that is a plain text or a number.
std::string read_scalar(const std::string& key, const std::string& text, SourceDocument& out) {
  if (key == "kind") out.document.set_kind(text);
  if (key == "region") out.document.set_region(text);
  if (key == "id") out.document.set_id(text);
  if (key == "state") out.document.set_state(text);
  if (key != "version" && key != "incarnation") return {};
  const auto number = number_of(text);
  if (!number) return out.fault(key, "must be a number, as `get -o yaml --with-version` prints it");
  if (key == "version") {
    out.document.set_version(*number);
  } else {
    out.document.set_incarnation(*number);
  }
  return {};
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
      if (std::string fault = read_scalar(key, *text, out); !fault.empty()) return fault;
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

// `text`: of this file, or why it cannot be read.
void add_read(const Result<std::string>& text, const std::string& file, bool keys_only,
              Documents& out) {
  if (text.ok()) {
    add_documents(*text, file, keys_only, out);
  } else {
    out.faults.push_back(text.error().message);
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

void DocumentPaths::add_options(Command& command, const std::string& about) {
  command.options("-f,--file", "FILE|DIR", files,
                  about +
                      "; a folder stands for its *.yaml, *.yml and *.json files, - for "
                      "standard input; may be repeated");
  command.flag("-R,--recursive", subfolders, "with -f DIR: the files of its subfolders, too");
}

void DocumentPaths::require_sense() const {
  if (subfolders && files.empty()) throw UsageError("-R is for -f DIR");
}

Documents read_documents(const DocumentPaths& paths, bool keys_only) {
  Documents out;
  for (const auto& path : paths.files) {
    if (path == "-") {
      add_read(read_standard_input(), "<stdin>", keys_only, out);
      continue;
    }
    const auto files = document_files(path, paths.subfolders);
    if (!files.ok()) {
      out.faults.push_back(files.error().message);
      continue;
    }
    for (const auto& file : *files) add_read(read_file(file), file, keys_only, out);
  }
  return out;
}

void refuse_twins(Documents& documents) {
  std::set<std::tuple<std::string, std::string, std::string>> once;
  std::vector<SourceDocument> first;
  for (SourceDocument& one : documents.good) {
    const auto& d = one.document;
    if (d.id().empty() || once.emplace(d.kind(), d.region(), d.id()).second) {
      first.push_back(std::move(one));
    } else {
      documents.faults.push_back(one.fault("id", "is named twice: " + d.kind() + "/" + d.id()));
    }
  }
  documents.good = std::move(first);
}

void forget_versions(std::vector<SourceDocument>& documents) {
  for (SourceDocument& one : documents) {
    one.document.clear_version();
    one.document.clear_incarnation();
  }
}

json::object to_json(const v1::Document& d) {
  json::object out;
  out["kind"] = d.kind();
  out["region"] = d.region();
  out["id"] = d.id();
  if (d.has_version()) out["version"] = d.version();
  if (d.incarnation() != 0) out["incarnation"] = d.incarnation();
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
