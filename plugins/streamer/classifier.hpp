// Decides with the kind's help what streams send for a stored record: an apply, a delete or a hold.
// The feed, the streams and the point queries use it. A record that cannot be sent becomes a hold,
// is logged once per version, and never stops a stream. Any thread, but what asks a kind is called
// on the pool of the kind's instance.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <davit/delays.hpp>
#include <davit/kind.hpp>
#include <davit/records.hpp>

#include "additions.hpp"
#include "change.hpp"
#include "wire_validator.hpp"

namespace davit::streamer {

// A live record whose annotation has this value is held.
inline constexpr std::string_view pause_annotation = "davit.dev/pause";

// What a kind cannot classify is asked about again (Feed::ask_again) well before it counts as over.
inline constexpr std::chrono::minutes delay_lasts{5};

// Why a record is held. The error code of a ctrl.v1 point query depends on it.
enum class Cause { none, paused, unhandled, undecodable };

struct Judgement {
  Verb verb = Verb::hold;
  Cause cause = Cause::none;
  std::string reason;  // hold only
};

class Classifier {
 public:
  explicit Classifier(Host host);
  // Finds the kinds of this process. An error names the kind.
  Result<> wire();

  struct Kind {
    kind::Client client;
    Schema schema;
    WireValidator validator;  // of its apply message
    std::unique_ptr<Additions> additions = std::make_unique<Additions>();
  };
  // NULL when the kind is not loaded.
  const Kind* kind(std::string_view name) const;
  const std::map<std::string, Kind, std::less<>>& kinds() const { return kinds_; }

  // An error is retryable: the kind cannot say now what the record asks for. Nothing is sent for
  // it, and the caller asks again. Asks the kind.
  static Result<Judgement> judge(const Kind& kind, const Record& record);
  // The judgement as streams send it. A delete has no name when another record has taken its name.
  // Logs a hold unless the record is paused.
  Change change(const Kind& kind, Record record, Judgement judgement);
  // Both.
  Result<Change> change(const Kind& kind, Record record);
  // Logs once per version. `record`: "kind/region/id".
  void log_hold(const std::string& record, Version version, const std::string& reason);

  // The records that their kind cannot classify now, for `davit status`.
  const Delays& delays() const { return delays_; }
  void delayed(const Key& key, const char* stage, Version version, const Error& why);
  void not_delayed(const Key& key, const char* stage, Version version) {
    delays_.over(key, stage, version);
  }

 private:
  Host host_;
  std::map<std::string, Kind, std::less<>> kinds_;
  std::mutex mutex_;
  std::unordered_map<std::string, Version> logged_;  // key -> version
  Delays delays_{delay_lasts};
};

}  // namespace davit::streamer
