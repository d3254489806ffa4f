// What all methods of the plugin share. It lives as long as the plugin. Each serve_... function
// below registers the methods of one file, in wire().
#pragma once

#include <atomic>

#include <davit/delays.hpp>
#include <davit/outstanding.hpp>
#include <davit/required_features.hpp>
#include <davit/rpc.hpp>
#include <davit/storage.hpp>
#include <davit/storage_copy.hpp>

#include "davit_wire_descriptors.h"
#include "kinds.hpp"
#include "lag.hpp"
#include "maintenance.hpp"
#include "store_watcher.hpp"

namespace davit::desired {

struct Shared {
  Shared(Host h, storage::Client s, storage::Election election, Kinds k,
         MaintenanceSettings settings)
      : host(h),
        storage(s.under(operations.begin())),
        kinds(std::move(k)),
        store_watcher(h, storage, outstanding),
        maintenance(h, storage, election, outstanding, settings) {}
  Host host;
  const Operations operations;  // what stop cancels
  storage::Client storage;      // for what several calls share; a call's own work is under its op
  Kinds kinds;
  Outstanding outstanding;
  StoreWatcher store_watcher;
  Maintenance maintenance;
  Lag lag;
  DelaysClient delayed;                        // what other plugins have noted; set in wire()
  Delays unanswered{std::chrono::minutes(5)};  // what the kinds could not say to a status
  std::atomic<bool> stopping{false};

  // For a read on behalf of a call: true until the call's deadline or the plugin's stop. [any]
  GoOn while_waits(const rpc::Call& call) const {
    return [this, deadline = call.deadline_ns()] {
      return !stopping && host.now().count() < deadline;
    };
  }
  std::optional<storage::Copies> copies;  // none: the storage offers no copies
};

// A method of OperatorService.
inline rpc::Method method(const std::string& name, const std::string& request,
                          const std::string& response) {
  return {.path = "davit.v1.OperatorService/" + name,
          .request_type = "davit.v1." + request,
          .response_type = "davit.v1." + response,
          .descriptor_set = davit_wire_descriptors(),
          .role = "operator"};
}

inline Error undecodable() {
  return {Code::invalid_argument, "the request cannot be decoded"};
}

// Reads a request. Every request of OperatorService says what its server must not ignore; `known`
// are the words that the method heeds.
template <class Message>
Result<> parse(Message& message, std::string_view request,
               std::initializer_list<std::string_view> known = {}) {
  if (!message.ParseFromArray(request.data(), static_cast<int>(request.size())))
    return undecodable();
  return refuse_unknown_features(message.required_features(), known);
}

Result<> serve_changes(Shared& shared, const rpc::Server& server);  // Apply, Delete
Result<> serve_reads(Shared& shared, const rpc::Server& server);    // Get, List, Watch
Result<> serve_status(Shared& shared,
                      const rpc::Server& server);  // Status, WatchStatus, ListStatus
Result<> serve_maintain(Shared& shared, const rpc::Server& server);
Result<> serve_agents(Shared& shared, const rpc::Server& server);  // ForgetAgent
Result<> serve_copies(Shared& shared, const rpc::Server& server);  // Backup, Verify
Result<> serve_kinds(Shared& shared, const rpc::Server& server);   // ListKinds

}  // namespace davit::desired
