// Carries out the changes of one Apply or Delete. It reads each record, asks for the decision, and
// commits each change as a group of its own. It starts again with records that somebody else
// changed in between. Outcomes keep the order of the request, and a refused change does not affect
// the others. It runs on the storage's pool and lives until it has answered.
#pragma once

#include <davit/outstanding.hpp>
#include <davit/storage.hpp>

#include "decision.hpp"
#include "foresight.hpp"

namespace davit::desired {

class Mutations : public std::enable_shared_from_this<Mutations> {
 public:
  struct Request {
    std::string shown;  // the request id that is stored with the record; may be empty
    std::string id;     // the request id of the group; may be empty
  };
  struct Item {
    Key key;
    Decide decide;  // not called when the outcome is already set
    Request request;
    Outcome outcome;
  };
  using Done = std::function<void(std::vector<Outcome>)>;

  // A dry run commits nothing.
  static void run(const Host& host, const storage::Client& storage, std::vector<Item> items,
                  bool dry_run, Outstanding::Ticket ticket, Done done);

 private:
  Mutations(Host host, storage::Client storage, std::vector<Item> items, bool dry_run,
            Outstanding::Ticket ticket, Done done);
  void attempt();
  void read_and_decide(size_t index);
  void foresee(Outcome& outcome, const Record& wanted, const std::optional<Record>& stored);
  void commit(size_t index, Mutation mutation, std::string word);
  void committed(size_t index, const std::string& word, const GroupResult& result);
  void settle();

  Host host_;
  storage::Client storage_;
  std::vector<Item> items_;
  bool dry_run_;
  Outstanding::Ticket ticket_;
  Done done_;
  int attempts_ = 0;
  Foresight foresight_;

  std::mutex mutex_;  // commits answer on several threads
  size_t waiting_ = 0;
  std::vector<size_t> again_;
};

}  // namespace davit::desired
