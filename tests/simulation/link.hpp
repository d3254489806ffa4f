// The RPC layer between the simulated server and agent: calls arrive late, answers get lost, and
// whole connections are cut, by Fate. It keeps the contract of abi/rpc.h at both ends. One at a
// time in a process: the ABI's slots carry no pointer to it.
#pragma once

#include <list>
#include <map>
#include <memory>

#include <davit/rpc.hpp>

#include "fate.hpp"

namespace davit::simulation {

class Link {
 public:
  // Of the agents' channels, which are called as the agents are.
  Link(Host host, Fate& fate, std::string protocol);
  ~Link();
  const davit_rpc* table() const;

  // The server has crashed: nobody serves. What it has said still reaches the agents, perhaps when
  // another one is up.
  void server_gone();
  // The agent has crashed: its calls are lost, and what it still tries to say while it is taken
  // down goes nowhere, and takes no time.
  void agent_gone(const std::string& agent);
  void agent_back(const std::string& agent);
  // The agents' next calls begin snapshots, of which many break off.
  void expect_snapshots();
  // Nobody reaches the server for as long as this holds.
  void set_cut(bool cut);
  void set_cut(const std::string& agent, bool cut);  // or one of them does not
  // Each message of this agent, and each to it, takes seconds, but fewer than a dead connection is
  // kept for (15 s).
  void set_crawling(const std::string& agent, bool crawls);
  // A call that nothing happens to: the operator's. Runs in the simulation's time.
  void ask(const std::string& path, std::string request,
           std::function<void(Result<std::string>)> done);

  struct Rpc;  // one call with its two ends

 private:
  friend struct Slots;
  void lose_all(const char* why, const std::function<bool(const Rpc&)>& which);
  void lose(Rpc& rpc, const char* why);
  void leave(const std::shared_ptr<Rpc>& rpc);
  void arrive(const std::shared_ptr<Rpc>& rpc);
  void send(const std::shared_ptr<Rpc>& rpc, bool to_server, std::function<void()> deliver);
  void forget_ended();

  static Link* current_;
  Host host_;
  Fate& fate_;
  Strand strand_;
  const std::string protocol_;
  bool cut_ = false;
  std::map<std::string, davit_rpc_method> methods_;
  std::list<std::shared_ptr<Rpc>> calls_;
};

}  // namespace davit::simulation
