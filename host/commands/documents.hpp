// The documents that operators write, with kind, region, id, state, annotations and spec. They are
// in YAML or JSON, in files or on standard input. An error in a field names its line:
// "deploy.yaml:7: spec.cpu_milicores: unknown field".
#pragma once

#include <davit/v1/operator.pb.h>

#include "yaml.hpp"

namespace davit::host {

struct SourceDocument {
  std::string file;
  v1::Document document;
  YamlDocument source;
  std::string prefix;  // path of this document in its source; empty unless the source is a list

  // Formats an error: "file:line: field: message".
  std::string fault(const std::string& field, const std::string& message) const;
};

struct Documents {
  std::vector<SourceDocument> good;
  std::vector<std::string> faults;  // one line for each document (or file) that cannot be used
};

// Reads files; "-" is standard input. With `keys_only` a document needs an id and no spec (davit
// delete -f).
Documents read_documents(const std::vector<std::string>& files, bool keys_only);
// Reads documents from a text. `file` is its name in messages.
void add_documents(const std::string& text, const std::string& file, bool keys_only,
                   Documents& out);

// The document as an operator writes it.
boost::json::object to_json(const v1::Document& document);

}  // namespace davit::host
