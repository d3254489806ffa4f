// The records, with their versions, and the requests that were answered.
#pragma once

#include <map>
#include <mutex>

#include <davit/records_role.hpp>

namespace records_memory {

using davit::Cursor, davit::Key, davit::Record, davit::Result, davit::Version;
namespace records = davit::records;

// Any thread.
class Store {
 public:
  explicit Store(davit::Incarnation incarnation) : incarnation_(incarnation) {}

  records::AppliedList apply(const records::Apply& request);
  Result<records::Found> get(const davit::Query& query) const;
  Result<records::Found> list(const records::Read& read) const;

  // The first record of the scope above a version; nothing: there is none. Records that were
  // deleted at or below `dead_after` are left out.
  std::optional<Record> next(const records::Read& scope, Version above, Version dead_after) const;
  Cursor head() const;
  // OUT_OF_RANGE: the cursor is of another history.
  Result<> accept(Cursor cursor) const;

 private:
  // A document, and what is to become of it.
  struct Wanted {
    records::Document document;
    Record record;
    std::optional<davit::Error> error;
    std::string outcome;
    Version version{};  // of the stored record
  };
  struct Answered {
    std::string content;  // of the request
    records::AppliedList results;
  };
  Wanted judged(const records::Document& document, const std::string& author) const;
  void decide(Wanted& wanted) const;
  std::optional<davit::Error> unmet(const Wanted& wanted, const Record* stored) const;
  void check_together(std::vector<Wanted>& group) const;
  records::AppliedList settled(std::vector<Wanted>& group, bool commit);
  const Record* find(const Key& key) const;

  const davit::Incarnation incarnation_;
  mutable std::mutex mutex_;
  std::map<Key, Record> records_;
  std::map<std::pair<std::string, std::string>, Answered> answered_;  // by author and request id
  Version head_{};
};

}  // namespace records_memory
