// An API server in trouble: the simulated one behind it, with requests that are throttled, fail,
// take long, or are carried out without an answer, and watches that break. Each request that
// changes something is shown to the judge when it is made, before it is carried out, and when it
// has been. Each agent has one of its own.
#pragma once

#include <map>
#include <set>

#include <davit/cluster.hpp>

#include "fate.hpp"
#include "later.hpp"

namespace davit::simulation {

class ShakyCluster {
 public:
  struct Asking {
    std::string agent;
    std::chrono::nanoseconds at{};
    bool late = false;  // whoever asked does not wait for an answer any more
  };
  struct Judge {
    virtual ~Judge() = default;
    virtual void asked(const cluster::Request& q, const std::string& agent) = 0;
    // The object as it is now; "null": there is none.
    virtual void before(const cluster::Request& q, const std::string& object, const Asking& by) = 0;
    virtual void after(const cluster::Request& q, const cluster::Response& r) = 0;
  };
  using Done = std::function<void(cluster::Response)>;

  ShakyCluster(Host host, Fate& fate, cluster::Client inner, Judge& judge, std::string agent)
      : host_(host),
        fate_(fate),
        inner_(inner),
        judge_(judge),
        agent_(std::move(agent)),
        strand_(host.strand()) {}

  // Nobody reaches it for as long as this holds: requests fail, and new watches show nothing.
  void set_away(bool away);
  // Who asks has crashed: nobody waits for an answer any more. What was asked for may still happen;
  // what is asked for while it is taken down does not.
  void asker_gone();
  void asker_back() { asker_gone_ = false; }
  // All watches lose their connection and begin anew.
  void break_watches();
  // The same, but they say so, and go on where they were: at once, or when it is no longer away.
  // One whose first list was under way begins anew.
  void interrupt_watches(const std::string& why);
  // The watches of this resource, also those that are asked for later, are refused, or lose their
  // connection and get no other one, until it is shown again. `trouble` DAVIT_WATCH_SYNCED: the
  // resource is not installed.
  void hide(const std::string& resource, int32_t trouble, const std::string& why);
  void show(const std::string& resource);
  void show_all();
  // Resources of which there are watches, each as often as there are.
  std::multiset<std::string> watched() const;

  void request(const Op&, cluster::Request q, Done done);
  cluster::WatchHandle* watch(cluster::WatchRequest q, uint32_t credit, cluster::Watcher watcher);
  void credit(cluster::WatchHandle* h, uint32_t more);
  void cancel(cluster::WatchHandle* h);
  void discover(const Op&, const std::string& group, const std::string& version,
                const std::string& kind, Done done) {
    inner_.discover(group, version, kind, std::move(done));
  }
  void identity(const Op&, Done done) { inner_.identity(std::move(done)); }

 private:
  struct Watch;
  using Asked = std::shared_ptr<Done>;  // empty: answered
  static void answer(const Asked& asked, const cluster::Response& r);
  void wait_until(std::chrono::nanoseconds due, const cluster::Request& q, const Asked& asked,
                  std::function<void()> then);
  void carry_out(cluster::Request q, const Asked& asked, Asking by, Done done);
  void open(const std::shared_ptr<Watch>& w);
  void tell_hidden(const std::shared_ptr<Watch>& w);
  void deliver(const std::shared_ptr<Watch>& w, int32_t type, std::string object);
  void end(const std::shared_ptr<Watch>& w);
  void lose(Watch& w);

  Host host_;
  Fate& fate_;
  cluster::Client inner_;
  Judge& judge_;
  const std::string agent_;
  Strand strand_;
  bool away_ = false, asker_gone_ = false;
  std::vector<Asked> asked_;
  std::vector<std::shared_ptr<Watch>> watches_;
  std::map<std::string, std::pair<int32_t, std::string>> hidden_;  // resources: how, and why
};

}  // namespace davit::simulation
