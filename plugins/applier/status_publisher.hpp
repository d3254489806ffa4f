// StatusPublisher: sends a record's status to the status sink when the status has changed. It sends
// an issue to the status sink and to the log when the issue begins, changes or ends. The hub calls
// it on the applier's strand.
#pragma once

#include <optional>

#include <davit/host.hpp>
#include <davit/sink.hpp>

#include "record_entry.hpp"

namespace davit::applier {

class StatusPublisher {
 public:
  StatusPublisher(Host host, std::optional<sink::StatusClient> to, std::string region)
      : host_(std::move(host)), to_(std::move(to)), region_(std::move(region)) {}

  // Offers the status if it differs from the last one. The key, the names, the version and the
  // parked reason are filled in here.
  void status(const std::string& kind, RecordEntry& entry, Status status) const;
  // Reports a record as gone.
  void gone(const std::string& kind, const GoneRecord& record) const;
  // An empty condition ends the issue.
  void issue(const std::string& kind, RecordEntry& entry, const std::string& condition,
             const std::string& reason) const;
  // An issue of the kind as a whole. `name` says what it is about. An empty reason ends the issue.
  void of_kind(const std::string& kind, const std::string& name, const std::string& condition,
               const std::string& reason) const;

 private:
  void offer(const Status& status) const;
  void log(const std::string& kind, const RecordEntry& entry, const std::string& condition,
           const std::string& reason) const;

  Host host_;
  std::optional<sink::StatusClient> to_;
  std::string region_;
};

}  // namespace davit::applier
