// Pass: one look at one Cluster, from the object as the cache has it to the status that says what
// came of it. It adds the finalizer, or calls the actuators, or deletes the children, calls the
// actuators and takes the finalizer off. It stands between the Controller, which says when, and the
// actuators. All members are called on one strand.
#pragma once

#include <davit/actuator.hpp>

#include "children.hpp"
#include "decide.hpp"
#include "events.hpp"
#include "status.hpp"

namespace davit::clusters {

// An actuator, by its instance.
struct Actuator {
  std::string instance;
  actuator::Client client;
};

// What all passes share.
struct Surroundings {
  Host host;
  Strand strand;
  Configuration configuration;
  cluster::Client cluster;
  std::vector<Actuator> providers, addons;  // in the order of the settings
  Outstanding& outstanding;
  std::shared_ptr<EventRecorder> events;
  // The answers to a write of a Cluster and to a read, for the cache.
  std::function<void(const std::string&key, const std::string&object)> wrote, read;
  // This status is about to be written.
  std::function<void(const std::string& key, const json::object& status)> writes;
  std::function<void(const Actuator&, bool removes, Code, std::chrono::nanoseconds took)> called;
};

class Pass : public std::enable_shared_from_this<Pass> {
 public:
  struct End {
    enum class How {
      done,       // nothing is to be done until something changes
      again,      // after `after`
      failed,     // with a back-off, and not before `after`
      abandoned,  // an actuator does not answer; `answered` follows when it does
    };
    How how = How::done;
    std::chrono::milliseconds after{0};
    Found found;
  };
  using Ended = std::function<void(const End&)>;

  // `text` is the whole Cluster.
  Pass(const Surroundings& around, std::string key, std::string text, Ended ended);
  void run();
  // The Cluster has changed so that the call that is open has no sense: its caller gives it up.
  void give_up() { operation_.cancel(); }
  // As give_up, and nothing is written any more. `ended` is not called.
  void close();
  bool removes() const { return removes_; }
  // After `abandoned`: whether the actuator has answered meanwhile.
  bool answered() const { return !open_; }

 private:
  using Time = std::chrono::nanoseconds;
  using Then = std::function<void()>;
  using Answered = std::function<void(const cluster::Response&)>;

  void add_finalizer();
  void reconcile();
  void remove();
  void remove_children();
  void call_next();
  void call(const Actuator& actuator);
  void answer(const Actuator& actuator, const actuator::Outcome& outcome);
  void refuse(const Error& error);
  void no_answer(const Actuator& actuator);
  void all_called();
  void write_finalizers(json::array finalizers, Answered done);
  void drop_finalizer(size_t tries_left);

  // Writes the status if it is another, then goes on.
  void write_status(Then then, size_t tries_left = 3);
  void status_written(const cluster::Response& r, Then then, size_t tries_left);
  // Reads the Cluster anew. Its status gets what the actuators have said in this pass.
  void read_again(Then then);
  void take(const std::string& text);
  void ask(cluster::Request request, Answered done);
  cluster::Request request(const char* verb) const;
  void fail(const cluster::Response& r, const std::string& what);
  void end(End::How how, std::chrono::milliseconds after = {});
  void event(bool warning, std::string reason, std::string message);

  const Surroundings& around_;
  const std::string key_;
  std::string text_;      // of the Cluster; empty: an actuator has changed the status since
  json::object cluster_;  // with what the actuators say in its status
  json::object stored_;   // the status that the API server has
  EventRecorder::About about_;
  Ended ended_;  // empty: it has been called
  bool removes_ = false, closed_ = false;
  std::vector<const Actuator*> to_call_;
  size_t next_ = 0;
  std::vector<std::string> patches_;  // of this pass
  Found found_;
  std::chrono::milliseconds again_{0};  // an actuator goes on
  std::optional<Error> error_;
  Operation operation_;  // of the call that is open
  bool open_ = false;
  Time called_{0};
  Timer watchdog_;
  std::shared_ptr<Children> children_;
};

}  // namespace davit::clusters
