// What the calls share: settings, neighbours, limits, the log. Any thread may call its functions.
// It outlives every Disclosure, because the plugin's stop waits for them.
#pragma once

#include <mutex>

#include <davit/cluster.hpp>
#include <davit/operation.hpp>
#include <davit/outstanding.hpp>
#include <davit/secrets.hpp>

#include "places.hpp"
#include "refused_tokens.hpp"
#include "repeated_lines.hpp"
#include "settings.hpp"

namespace davit::secrets_blob {

// A call that got no variables, as the log says it. Nothing of it is a text that the caller chose
// freely. What is not known yet is empty.
struct Failure {
  const char* what = "";  // "refused", "busy", "unavailable" or "failed"
  std::string reason;     // one of few
  std::string detail;
  std::string address, ns, pod, deployment_id;
};

class Service {
 public:
  // A call's place among those that are open. It is left when the last copy goes.
  using Place = std::shared_ptr<void>;

  Service(Host host, BlobSettings settings);
  Result<> wire();

  const Host host;
  const BlobSettings settings;
  cluster::Client cluster;
  secrets::Client secrets;
  const Operations operations;
  Outstanding open;

  // NULL: there is none.
  Place place_for_address(const std::string& address);
  Place place_for_namespace(const std::string& ns);
  // Whether the API server may be asked about a token now.
  ReviewPace::Verdict may_review(const std::string& address);
  bool was_refused(const RefusedTokens::Digest& token);
  void refused(const RefusedTokens::Digest& token);

  // Counts a call that got no variables, and logs the first of many.
  void note(const Failure& failure);

 private:
  Place place(Places& places, const std::string& caller);

  std::mutex mutex_;
  Places addresses_, namespaces_;
  ReviewPace pace_;
  RefusedTokens refused_;
  RepeatedLines lines_;
  const Metric reviews_;
};

}  // namespace davit::secrets_blob
