// Claimant: claims the robot's name upstream, and watches who else does. It carries out what Claim
// says. An account that may not do so is told once, and nothing is claimed. All members are called
// on the strand.
#pragma once

#include <davit/operation.hpp>

#include "claim.hpp"
#include "controller/object_cache.hpp"
#include "controller/watched.hpp"

namespace davit::federation {

class Claimant : public std::enable_shared_from_this<Claimant> {
 public:
  struct Name {
    std::string robot, ns;  // ns: of the Lease
    std::string cluster;    // who claims it
  };
  // `told` is called when trouble() may have changed.
  Claimant(Host host, Strand strand, Outstanding& outstanding, cluster::Client upstream, Name name,
           std::function<void()> told);
  void start();
  void close();
  // Who else goes by this name, for people; empty: nobody.
  std::string trouble() const;

 private:
  void event(int32_t type, std::string_view object);
  void pump();
  void send();
  void answered(const cluster::Response& r);
  void give_up(const std::string& why);
  std::string body() const;

  const Host host_;
  const Strand strand_;
  Outstanding& outstanding_;
  const cluster::Client upstream_;
  const Name name_;
  const std::string lease_;
  const std::function<void()> told_;
  const Operation operation_;
  Claim claim_;
  controller::ObjectCache cache_;
  std::shared_ptr<controller::Watched> watch_;
  Timer timer_;
  bool closed_ = false, sent_ = false;
  size_t refusals_ = 0;  // one after the other
  std::string said_;     // the rival that the log has been told
  Metric rivals_;
};

}  // namespace davit::federation
