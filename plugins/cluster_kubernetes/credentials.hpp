// Credentials: what the requests go with at present. It reads the kubeconfig and the files that it
// names again when they change. Its exec plugin runs when a request needs it, and a token of the
// settings is made before the last one ends. The engine owns it and calls it on its thread; what
// makes credentials runs on another one.
#pragma once

#include "access.hpp"
#include "credential_cache.hpp"
#include "credential_runner.hpp"
#include "file_stamp.hpp"
#include "token_maker.hpp"

namespace davit::cluster_kubernetes {

class Credentials {
 public:
  struct Rules {
    std::chrono::milliseconds exec_timeout{60'000};
    std::shared_ptr<TokenMaker> token;  // NULL: the access has all that is needed
  };
  enum class State { ready, waiting, failed };

  // `wake` is called on any thread: turn() has something to do. `first` was read just now.
  Credentials(const Host& host, Access first, ReadAccess read, Rules rules,
              std::function<void()> wake);

  // Looks at the files and at what makes credentials. True: access() has changed, or a failure has
  // come.
  bool turn();
  const std::shared_ptr<const Access>& access() const { return access_; }
  // Changes with what access() has.
  uint64_t generation() const { return generation_; }

  // Whether a request may be sent now. Has a credential made if it needs one.
  State state();
  // Why none could be made; empty: nothing failed.
  const std::string& failure() const { return failure_; }
  // The same, with how long requests still go on with what there is.
  std::string trouble() const;
  // What a refusal by the API server may come from; empty: nothing is known.
  const std::string& doubt() const { return doubt_; }

  // What the API server thinks of the credentials of this generation. `refused` (401) returns true
  // if the request is to be sent once more, as soon as the state is ready.
  void accepted(uint64_t generation);
  bool refused(uint64_t generation);
  // The API server does not answer: its address may have changed.
  void unanswered() { in_doubt_ = true; }
  // Ends what makes a credential; nothing does again.
  void end() { runner_.end(); }

 private:
  void look_at_files();
  void read_again();
  bool take_result();
  void note_failure(const Error& why);
  void begin();
  bool makes() const { return rules_.token != nullptr || source_->exec.has_value(); }
  void combine();

  const Host host_;
  const Rules rules_;
  const ReadAccess read_;
  std::shared_ptr<const Access> source_;  // as the files say
  Access made_;                           // what was made: token, certificate, key
  std::shared_ptr<const Access> access_;  // both
  std::vector<FileStamp> stamps_;         // of the files of source_
  uint64_t generation_ = 1;
  std::chrono::nanoseconds looked_at_{0}, read_at_{0};
  bool in_doubt_ = false;  // read again soon
  std::string fault_;      // of the last read, as it was logged; empty: there was none
  CredentialCache cache_;
  bool stale_ = false;  // the plugin that runs is not the present one
  std::string failure_, doubt_;
  bool passes_ = false;  // the failure is one that passes by itself
  Metric runs_, failures_, ends_;
  CredentialRunner runner_;  // last: its thread ends first
};

}  // namespace davit::cluster_kubernetes
