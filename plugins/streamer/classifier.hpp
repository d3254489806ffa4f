// Turns a stored record into what streams say about it, with the kind's help: apply, delete or
// hold. Any thread. What cannot be sent is held and logged once per version; it never
// stops a stream.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <davit/kind.hpp>

#include "additions.hpp"
#include "change.hpp"
#include "shape.hpp"

namespace davit::streamer {

// A live record whose annotation has this value is held.
inline constexpr std::string_view pause_annotation = "davit.dev/pause";

// Why a record is held; what a point query answers depends on it.
enum class Cause { none, paused, unhandled, undecodable };

struct Judgement {
  Verb verb = Verb::hold;
  Cause cause = Cause::none;
  std::string reason;  // of a hold
};

class Classifier {
 public:
  explicit Classifier(Host host);
  // The kinds of this process.
  Result<> wire();

  struct Kind {
    kind::Client client;
    Schema schema;
    Shape shape;  // of its apply message
    std::unique_ptr<Additions> additions = std::make_unique<Additions>();
  };
  // NULL when no such kind is loaded.
  const Kind* kind(std::string_view name) const;
  const std::map<std::string, Kind, std::less<>>& kinds() const { return kinds_; }

  static Judgement judge(const Kind& kind, const davit_record& record);
  // A delete has no name when another record has taken it over.
  Change change(const Kind& kind, const davit_record& record);
  // Once per version. `record`: "kind/region/id".
  void log_hold(const std::string& record, uint64_t version, const std::string& reason);

 private:
  Host host_;
  std::map<std::string, Kind, std::less<>> kinds_;
  std::mutex mutex_;
  std::unordered_map<std::string, uint64_t> logged_;  // key -> version
};

}  // namespace davit::streamer
