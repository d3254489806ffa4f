// Sends documents to OperatorService/Apply, for the commands apply and diff.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "batch.hpp"
#include "documents.hpp"
#include "exit_codes.hpp"
#include "operator_client.hpp"

namespace davit::host {

// What the command, "apply" or "diff", sends of these files: of several documents of one record the
// first; with `overwrite` without the versions that they name. Prints what cannot be used, or that
// there is nothing; then `good` may be empty.
Documents documents_to_send(const DocumentPaths& paths, bool overwrite, const char* command);

// Sends the documents in requests like this one, and calls `see` with what became of each, in their
// order. An error ends it: what became of the others is not known.
Result<> send_documents(OperatorClient& client, const std::vector<SourceDocument>& documents,
                        const v1::ApplyRequest& like, BatchLimits limits,
                        const std::function<void(const SourceDocument&, v1::Outcome&)>& see);

// Prints refusals to standard error, each with its file and line. A full disk, for example, refuses
// every document: the first few of the same message are printed, and the others counted.
class Refusals {
 public:
  void tell(const SourceDocument& document, const v1::Outcome& refused);
  // Call once, last. Returns the exit code of the first refusal, or exit_code_done.
  ExitCode end() const;

 private:
  ExitCode code_ = exit_code_done;
  std::map<std::string, size_t> times_;  // by message
};

}  // namespace davit::host
