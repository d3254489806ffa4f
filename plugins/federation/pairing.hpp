// Pairing: which two clusters these are, by the uids of their namespaces kube-system. It stands
// before everything else that the Hub does: two names of one cluster would make each object
// overwrite itself, and delete what the other rule has made. A cluster that is away is asked until
// it answers; one that refuses to say is taken for another. All members are called on the strand.
#pragma once

#include <davit/backoff.hpp>
#include <davit/cluster.hpp>
#include <davit/outstanding.hpp>

namespace davit::federation {

class Pairing : public std::enable_shared_from_this<Pairing> {
 public:
  struct Side {
    std::string name;  // "upstream \"cloud\""
    cluster::Client client;
  };
  // `told` is called when trouble() may have changed, and when both have answered.
  Pairing(Host host, Strand strand, Outstanding& outstanding, Side upstream, Side downstream,
          std::function<void()> told);
  void start();
  void close();

  // Both have answered and are not the same.
  bool done() const;
  bool same() const;
  // Why it is not done; empty: it is.
  std::string trouble() const;
  const std::string& upstream() const { return ends_[0].id; }  // empty: not known
  const std::string& downstream() const { return ends_[1].id; }

 private:
  struct End {
    Side side;
    std::string id, why;
    bool answered = false;
    Backoff backoff;
    Timer timer;
  };
  void ask(size_t end);
  void answered(size_t end, const cluster::Response& r);

  const Host host_;
  const Strand strand_;
  Outstanding& outstanding_;
  const std::function<void()> told_;
  const Operation operation_;
  End ends_[2];
  bool closed_ = false;
};

}  // namespace davit::federation
