// What operators write: documents of kind, region, id, state, annotations and spec, in YAML or JSON
// files or on standard input, and how an error of one of its fields is told: "deploy.yaml:7:
// spec.cpu_milicores: unknown field".
#pragma once

#include <davit/v1/operator.pb.h>

#include "yaml.hpp"

namespace davit::host {

struct SourceDocument {
  std::string file;
  v1::Document document;
  YamlDocument source;
  std::string prefix;  // path of this document in its source; not empty in a list of documents

  // "file:line: field: message".
  std::string fault(const std::string& field, const std::string& message) const;
};

struct Documents {
  std::vector<SourceDocument> good;
  std::vector<std::string> faults;  // one line for each document (or file) that cannot be used
};

// "-" is standard input. With `keys_only` a document needs no spec (davit delete -f).
Documents read_documents(const std::vector<std::string>& files, bool keys_only);
// The same from text; `file` is its name in messages.
void add_documents(const std::string& text, const std::string& file, bool keys_only,
                   Documents& out);

// The document as an operator would write it.
boost::json::object to_json(const v1::Document& document);

}  // namespace davit::host
