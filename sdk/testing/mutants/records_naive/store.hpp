// What records_naive keeps: records by their keys, with versions, and the requests that it has
// answered. It applies groups. A fault breaks one of its rules.
#pragma once

#include <map>
#include <mutex>

#include <davit/records_role.hpp>

namespace davit::naive {

class Store {
 public:
  static constexpr Incarnation incarnation{4711};
  explicit Store(std::string fault) : fault_(std::move(fault)) {}

  records::AppliedList apply(const records::Apply& request);
  Result<records::Found> get(const Query& query) const;
  Result<records::Found> list(const records::Read& read) const;

  // The first record above the version that the read asks for; nothing: there is none. Records that
  // were deleted at or below `dead_after` are left out.
  std::optional<Record> next(const records::Read& read, Version above, Version dead_after) const;
  Version head() const;
  bool is(const char* fault) const { return fault_ == fault; }
  // OUT_OF_RANGE when the cursor is of another history.
  Result<> known(Cursor cursor) const;

 private:
  struct Wanted {
    records::Document document;
    Record record;
    std::optional<Error> error;
    std::string outcome;
    Version version{};  // of the record, when it does not change
  };
  struct Answered {
    std::string content;
    records::AppliedList results;
  };
  Result<Record> validated(const records::Document& document) const;
  void decide(Wanted& wanted, const std::string& author) const;
  void check_expected(Wanted& wanted, const Record* stored) const;
  void check_names(std::vector<Wanted>& group) const;
  records::AppliedList results(std::vector<Wanted>& group, bool commit);
  std::vector<Wanted> judged(const records::Apply& request) const;
  const Record* find(const Key& key) const;

  const std::string fault_;
  mutable std::mutex mutex_;
  std::map<Key, Record> records_;
  std::map<std::pair<std::string, std::string>, Answered> answered_;  // by author and request id
  Version head_{};
};

}  // namespace davit::naive
