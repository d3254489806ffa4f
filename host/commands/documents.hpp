// The documents that operators write, with kind, region, id, state, annotations and spec, and on
// request the version that they were made of. They are in YAML or JSON, in files or on standard
// input. An error in a field names its line:
// "deploy.yaml:7: spec.cpu_milicores: unknown field".
#pragma once

#include <davit/v1/operator.pb.h>

#include "command_line.hpp"
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

// What the options -f and -R name.
struct DocumentPaths {
  std::vector<std::string> files;  // or folders (document_files.hpp); "-" is standard input
  bool subfolders = false;

  // Adds -f and -R. `about` says what is done with the documents.
  void add_options(Command& command, const std::string& about);
  // Throws a UsageError if there is -R without -f.
  void require_sense() const;
};
// With `keys_only` a document needs an id and no spec (davit delete -f).
Documents read_documents(const DocumentPaths& paths, bool keys_only);
// Leaves the first of several documents of one record; each other one is a fault. (Of documents
// without an id only their kind can tell; the server refuses those.)
void refuse_twins(Documents& documents);
// Takes out the versions that the documents name: they will be applied whatever is stored.
void forget_versions(std::vector<SourceDocument>& documents);
// Reads documents from a text. `file` is its name in messages.
void add_documents(const std::string& text, const std::string& file, bool keys_only,
                   Documents& out);

// The document as an operator writes it.
boost::json::object to_json(const v1::Document& document);

}  // namespace davit::host
