// What the suites of the role records share: an instance, short functions that call it, and the
// documents. The rules R1 to R14 are in abi/records_role.h. A test's name has the number of the
// rule that it proves.
//
// `conformance.records = "FILE"` in the configuration names a JSON file, relative to the
// configuration:
//
//   {"kind": "widget", "region": "eu", "other_region": "us",
//    "namespace": "apps", "name": "n-$ID",        what the kind makes of the spec
//    "spec": {...},                               valid; has $ID, and $VALUE somewhere in a text
//    "same": {...},                               means the same, and is written in another way
//    "refused": [{"spec": {...}, "where": "spec.size"}]}
//
// $ID and $VALUE are replaced, by an id and by a number.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include <boost/json.hpp>
#include <davit/operation.hpp>
#include <davit/records_role.hpp>

#include "suite.hpp"

namespace davit::conformance {

struct RecordSample {
  std::string kind, region, other_region, ns, name, spec, same;
  std::vector<std::pair<std::string, std::string>> refused;  // spec, where
};

// The answers to several calls, which may come on any thread. It calls the table and not
// records::Client, which could not tell that an answer came twice.
class RecordsAnswers {
 public:
  void apply(davit_ref ref, const records::Apply& apply, const Operation& op);
  void apply(davit_ref ref, const davit_apply& apply, const Operation& op);
  void get(davit_ref ref, const Query& query, const Operation& op);
  void list(davit_ref ref, const records::Read& read, const Operation& op);
  void list(davit_ref ref, const davit_records_read& read, const Operation& op);

  bool wait(size_t count);
  size_t count();
  records::AppliedList applied(size_t n);
  Result<records::Found> found(size_t n);

 private:
  static const davit_records* table(davit_ref ref);
  static void take_applied(void* self, const davit_applied* const* results, size_t count);
  static void take_found(void* self, const davit_records_page* page);
  struct One {
    records::AppliedList applied;
    Result<records::Found> found = records::Found{};
  };
  void push(One one);
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<One> all_;
};

// One watch, and what it has told: "a" for a record, "-a" for a deleted one, "SYNCED". Bookmarks
// are kept apart.
class RecordsSeen {
 public:
  // What an event does besides: called with the number of events so far.
  using Then = std::function<void(RecordsSeen&, size_t)>;
  RecordsSeen(davit_ref ref, const records::Read& read, uint32_t credit, Then then = {});
  ~RecordsSeen();  // cancels, and waits for the end
  void credit(uint32_t more);
  void cancel();

  bool wait_for(const std::string& word, size_t times = 1);
  bool wait_for_end();
  std::vector<std::string> words();
  std::string text();  // the words with spaces between
  size_t events();     // bookmarks, too
  Cursor at();         // of the newest event that has one
  std::vector<records::Event> all();
  // How often it has ended, and what came behind the end. The reason of the first end.
  size_t ends();
  size_t late();
  std::optional<Error> why();

 private:
  // What the callbacks write. It is kept until the process ends: an instance that is wrong calls
  // back when nobody expects it any more.
  struct State {
    std::mutex mutex;
    std::condition_variable came;
    std::function<void(size_t)> then;
    std::vector<std::string> words;
    std::vector<records::Event> all;
    Cursor at;
    size_t ends = 0, late = 0;
    std::optional<Error> why;
  };
  static State& kept();
  static void on_event(void* self, const davit_records_event* e);
  static void on_end(void* self, const davit_error* e);
  bool wait(const std::function<bool()>& done);
  const davit_records& table() const { return *static_cast<const davit_records*>(ref_.vtable); }

  State& state_ = kept();
  davit_ref ref_;
  // The handle, and what an event asked for before there was one.
  std::recursive_mutex handle_mutex_;
  davit_records_watch* watch_ = nullptr;
  uint32_t owed_ = 0;
  bool cancel_ = false, cancelled_ = false;
};

class Records : public ::testing::Test {
 protected:
  void SetUp() override;
  void connect();
  // Stops the instance and makes another one with what it has stored.
  void restart();

  records::Document document(const std::string& id, int value = 1) const;
  records::Document in_other_region(records::Document d) const;
  // The name in the cluster of the record with this id.
  std::string named(const std::string& id) const;
  Key key(const std::string& id) const { return {sample_.kind, sample_.region, id}; }
  records::Document removal(const std::string& id, Version expect = any_version) const {
    return records::deletion(key(id), expect);
  }
  static records::Document expecting(records::Document d, Version expect);

  records::AppliedList apply(records::Apply request);
  records::AppliedList apply(std::vector<records::Document> documents) {
    return apply(records::Apply{std::move(documents), {}, false, "suite"});
  }
  // Applies one document, which must succeed, and returns its position.
  Cursor put(const records::Document& d);
  Result<records::Found> get(const Query& query);
  Result<records::Found> list(const records::Read& read);
  bool is_stored(const std::string& id);
  Record stored(const std::string& id);  // fails the test when there is none
  // All records, deleted ones, too, as "a@1 -b@2": for what must not have changed.
  std::string everything();
  // "created created", or the codes of the errors: "3 3".
  static std::string outcomes(const records::AppliedList& results);
  records::Read all_of_region() const { return {sample_.kind, sample_.region}; }

  std::deque<RecordsAnswers> calls_;  // outlive the instance, which may answer too often
  std::unique_ptr<Fresh> fresh_;
  davit_ref ref_{};
  RecordSample sample_;
};

}  // namespace davit::conformance
