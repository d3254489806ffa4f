#include "apply_calls.hpp"

#include <algorithm>

#include "outcomes.hpp"
#include "output.hpp"
#include "suggestions.hpp"

namespace davit::host {

namespace {

// The most refusals that are printed with the same message.
constexpr size_t refusals_told = 10;

// A document that names a version of its record, and the record has another one.
std::string advice_for(const v1::Outcome& refused) {
  if (refused.code() != static_cast<int32_t>(Code::aborted) || refused.field() != "version")
    return {};
  return "; get it anew, or apply it with --overwrite (with diff, too: what it would undo)";
}

}  // namespace

Documents documents_to_send(const DocumentPaths& paths, bool overwrite, const char* command) {
  Documents documents = read_documents(paths, false);
  refuse_twins(documents);
  for (const auto& fault : documents.faults) tell(stderr, fault);
  if (documents.good.empty() && documents.faults.empty())
    std::fprintf(stderr, "davit %s: there is no document in what was given\n", command);
  if (overwrite) forget_versions(documents.good);
  return documents;
}

Result<> send_documents(OperatorClient& client, const std::vector<SourceDocument>& documents,
                        const v1::ApplyRequest& like, BatchLimits limits,
                        const std::function<void(const SourceDocument&, v1::Outcome&)>& see) {
  for (size_t next = 0; next < documents.size();) {
    v1::ApplyRequest request = like;
    if (!like.request_id().empty())
      request.set_request_id(like.request_id() + "-" + std::to_string(next));
    const size_t first = next;
    const size_t end = batch_end(
        first, documents.size(), [&](size_t i) { return documents[i].document.ByteSizeLong(); },
        limits);
    for (; next < end; ++next) *request.add_documents() = documents[next].document;
    const bool guarded = std::any_of(request.documents().begin(), request.documents().end(),
                                     [](const auto& d) { return d.has_version(); });
    if (guarded) request.add_required_features("document_version");
    v1::ApplyResponse response;
    if (auto r = client.call("Apply", request, response); !r.ok()) return r.error();
    if (auto r = one_for_each(response.outcomes_size(), end - first); !r.ok()) return r.error();
    for (size_t i = first; i < end; ++i)
      see(documents[i], *response.mutable_outcomes(static_cast<int>(i - first)));
  }
  return {};
}

void Refusals::tell(const SourceDocument& document, const v1::Outcome& refused) {
  if (code_ == exit_code_done) code_ = exit_code_of(refused);
  if (++times_[refused.message()] > refusals_told) return;
  host::tell(stderr, document.fault(refused.field(),
                                    with_nearest_kind(refused.message()) + advice_for(refused)));
}

ExitCode Refusals::end() const {
  for (const auto& [message, times] : times_) {
    if (times > refusals_told)
      host::tell(stderr, "... and " + std::to_string(times - refusals_told) + " more: " + message);
  }
  return code_;
}

}  // namespace davit::host
