// Carries out the changes of one call, group by group. It reads the records of all groups, asks
// for the decisions, and commits what is to change together. It starts again with a group of which
// somebody else changed a record in between. When one change of a group is refused, all are.
// Outcomes keep the order of the groups and of their items, and a refused group does not affect the
// others. It runs on the storage's pool and lives until it has answered.
#pragma once

#include <span>

#include <davit/outstanding.hpp>
#include <davit/storage.hpp>

#include "commit_preview.hpp"
#include "decision.hpp"
#include "expectation.hpp"

namespace davit::desired {

class Mutations : public std::enable_shared_from_this<Mutations> {
 public:
  struct Request {
    std::string shown;  // the request id that is stored with the record; may be empty
    std::string id;     // the request id of the group; may be empty
  };
  struct Item {
    Key key;
    Decide decide;         // not called when the outcome is already set
    Expectation expect{};  // the caller's condition
    Outcome outcome{};
  };
  struct Group {
    std::vector<Item> items;
    Request request;
    uint64_t intent = 0;  // that it carries out; 0: none
  };
  using Done = std::function<void(std::vector<Outcome>)>;

  // A dry run commits nothing, and its outcomes have the records before and after. When the
  // storage's op is over, what has not begun is refused. The op lives until `done` has been called.
  static void run(const Host& host, const storage::Client& storage, std::vector<Group> groups,
                  bool dry_run, Outstanding::Ticket ticket, Done done);

 private:
  enum class Step {
    change,
    blame,     // the store refused the group: find the change that it refuses
    look_back  // the group was committed by an earlier call with the same request id
  };
  struct Work {
    std::vector<Item> items;
    Request request;
    uint64_t intent = 0;
    Step step = Step::change;
    bool asked = false;        // the store does not know the request id
    std::optional<Error> why;  // of `blame`
    Cursor head;               // of the store, when the records were read
    std::vector<std::optional<Record>> stored{};
    std::vector<Decision> decisions{};
  };
  Mutations(Host host, storage::Client storage, std::vector<Group> groups, bool dry_run,
            Outstanding::Ticket ticket, Done done);
  void attempt();
  struct Place {
    Work* work;
    size_t item;
  };
  bool begin(Work& work);
  void read(const std::vector<size_t>& works);
  void read(std::span<const Place> places);
  void attempt(size_t index);
  void decide(Work& work, size_t n);
  void check_expected(Work& work, size_t n);
  void refuse_unmet(Work& work, size_t n);
  void preview(Work& work, size_t n);
  void preview_all(Work& work);
  void commit(size_t index);
  void committed(size_t index, const GroupResult& result);
  void refused_by_store(Work& work, size_t index, const Error& error);
  void again(size_t index);
  void settle();

  Host host_;
  storage::Client storage_;
  std::vector<Work> works_;
  bool dry_run_;
  Outstanding::Ticket ticket_;
  Done done_;
  int attempts_ = 0;
  CommitPreview preview_;
  std::optional<Result<History>> history_;  // of the store, when it was needed

  std::mutex mutex_;  // commits answer on several threads
  size_t waiting_ = 0;
  std::vector<size_t> again_;
};

}  // namespace davit::desired
