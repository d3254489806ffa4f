// Writers: operators who create, change, delete and create again, each name by one of them at a
// time, so that the order of a name's writes is known. A call whose connection is lost is repeated,
// with the same request id, until its outcome is known; some are repeated long after that.
#pragma once

#include <memory>

#include "davit/v1/operator.pb.h"
#include "intents.hpp"
#include "load.hpp"

namespace davit::torture {

class Writers {
 public:
  Writers(Course& course, unsigned regions, unsigned names);

  // Writes while the course says so. Any thread, each with another number.
  void run(unsigned number);

  // Calls that were answered, each of which is one commit. Any thread, also meanwhile.
  uint64_t commits() const { return commits_; }
  // When all have returned:
  Journal take_journal();
  uint64_t written() const { return written_; }
  uint64_t repeated() const { return repeated_; }
  uint64_t intents() const { return intents_; }  // of the written

 private:
  // One name of one topic: who holds the lock writes it.
  struct Name {
    Topic topic;
    const Kind* kind = nullptr;
    std::string name;
    std::mutex mutex;
    unsigned born = 0;  // ids that it has had
    std::string id;     // of the last write
    bool live = false;
    std::vector<Write> writes;
  };
  struct Held {
    Name* name;
    std::unique_lock<std::mutex> lock;
    Write write;
    std::string expected;  // the outcome's word, when the call was not repeated
  };
  using Group = std::vector<Held>;
  // A request that was answered, and how.
  struct Past {
    v1::ApplyRequest request;
    std::vector<Name*> names;
    std::vector<uint64_t> versions;
  };

  Group take(Random& random, bool live_only);
  void plan_apply(Random& random, Group& group, const std::string& request);
  static void plan_removal(Group& group);
  // False: the course is over, and the outcome unknown. `past` may be NULL.
  bool apply(Doors& doors, Group& group, std::optional<Past>* past);
  bool remove(Doors& doors, Group& group);
  bool insert(Intents& intents, Group& group);
  void keep(Group& group);
  static Past past_of(v1::ApplyRequest request, const Group& group);
  template <class Response, class Request>
  bool carry_out(Doors& doors, const char* path, const Request& request, Group& group);
  // Asks again what was answered long ago, as a network may: it must change nothing. False: not
  // now.
  bool ask_again(Doors& doors, const Past& past);
  template <class Outcome>
  bool settle(Held& held, const Outcome& outcome, bool repeated);
  void wrong(const Held& held, const std::string& what);

  Course& course_;
  std::vector<std::unique_ptr<Name>> names_;
  std::atomic<uint64_t> commits_{0}, written_{0}, repeated_{0}, intents_{0};
};

}  // namespace davit::torture
