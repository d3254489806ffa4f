// Credentials: what the requests go with at present. It reads the kubeconfig and the files that it
// names again when they change, and runs its exec plugin when a request needs it. The engine owns
// it and calls it on its thread; a plugin runs on another one.
#pragma once

#include "exec_cache.hpp"
#include "exec_runner.hpp"
#include "file_stamp.hpp"

namespace davit::cluster_kubernetes {

class Credentials {
 public:
  struct Rules {
    std::chrono::milliseconds exec_timeout{60'000};
  };
  enum class State { ready, waiting, failed };

  // `wake` is called on any thread: turn() has something to do. `first` was read just now.
  Credentials(const Host& host, Access first, ReadAccess read, Rules rules,
              std::function<void()> wake);

  // Looks at the files and at the plugin. True: access() has changed, or a failure has come.
  bool turn();
  const std::shared_ptr<const Access>& access() const { return access_; }
  // Changes with what access() has.
  uint64_t generation() const { return generation_; }

  // Whether a request may be sent now. Begins a run of the plugin if it needs one.
  State state();
  // Why it failed; empty: it did not.
  const std::string& failure() const { return failure_; }

  // What the API server thinks of the credentials of this generation. `refused` (401) returns true
  // if the request is to be sent once more, as soon as the state is ready.
  void accepted(uint64_t generation);
  bool refused(uint64_t generation);
  // The API server does not answer: its address may have changed.
  void doubt() { in_doubt_ = true; }
  // Kills a plugin that runs; none runs again.
  void end() { runner_.end(); }

 private:
  void look_at_files();
  void read_again();
  bool take_result();
  void combine();

  const Host host_;
  const ReadAccess read_;
  std::shared_ptr<const Access> source_;  // as the files say
  Access made_;                           // what the plugin has made: token, certificate, key
  std::shared_ptr<const Access> access_;  // both
  std::vector<FileStamp> stamps_;         // of the files of source_
  uint64_t generation_ = 1;
  std::chrono::nanoseconds looked_at_{0}, read_at_{0};
  bool in_doubt_ = false;    // read again soon
  bool unreadable_ = false;  // it was logged
  ExecCache cache_;
  bool stale_ = false;  // the plugin that runs is not the present one
  std::string failure_;
  Metric runs_;
  ExecRunner runner_;  // last: its thread ends first
};

}  // namespace davit::cluster_kubernetes
