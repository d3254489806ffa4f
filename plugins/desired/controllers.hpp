// The role records: what controllers call, by the same code as the operator's methods. [any]
#pragma once

#include <davit/records_role.hpp>

#include "feed.hpp"

namespace davit::desired {

class Controllers {
 public:
  // `shared` outlives every call.
  explicit Controllers(Shared& shared) : shared_(shared) {}

  void apply(const Op& op, records::Apply request, records::ApplyDone done);
  void get(const Op& op, Query query, records::Done done);
  void list(const Op& op, records::Read what, records::Done done);
  Result<records::WatchHandle*> watch(const records::Read& read, uint32_t credit,
                                      records::Watcher watcher);
  void credit(records::WatchHandle* watch, uint32_t more);
  void cancel(records::WatchHandle* watch);

 private:
  using Find = std::function<Result<records::Found>(const storage::Client&)>;
  void read(const Op& op, Find find, records::Done done);
  std::optional<Error> over(const Op& op) const;

  Shared& shared_;
  std::mutex mutex_;
  std::map<records::WatchHandle*, std::shared_ptr<Feed>> feeds_;  // that nobody has cancelled
};

}  // namespace davit::desired
