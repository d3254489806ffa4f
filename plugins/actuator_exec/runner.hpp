// Runner: carries one call out, from the lock of its cluster to the answer. Queue's threads call
// it.
#pragma once

#include "environment.hpp"
#include "open_call.hpp"
#include "said.hpp"

namespace davit::actuator_exec {

class Runner {
 public:
  Runner(Host host, ExecSettings settings) : host_(host), settings_(std::move(settings)) {}

  const ExecSettings& settings() const { return settings_; }
  // Whether the program, its folder and its files are there. Blocks on the disk.
  Result<> check();
  // The same, and makes the folders of the instance's state.
  Result<> start();

  // Answers the call. Blocks until the program has ended, which may be later than the answer.
  void run(OpenCall& open);
  // The instance stops: what is running is answered UNAVAILABLE and ends at once when `hurry` is
  // called, too.
  void stopping() { stopping_ = true; }
  void hurry() { no_grace_.stop(); }

 private:
  process::Command command_of(const OpenCall& open, std::chrono::nanoseconds now) const;
  Error limit_error(const OpenCall& open, process::End end, const std::string& failure,
                    const Said& said) const;
  void answer(OpenCall& open, const process::Ran& ran, const Said& said,
              const Covers& covers) const;
  Error with_words(Error error, const Said& said) const;

  const Host host_;
  const ExecSettings settings_;
  std::string program_;    // its file
  std::string directory_;  // in which it works
  std::string locks_;
  std::atomic<bool> stopping_{false};
  const process::Stopper no_grace_;
};

}  // namespace davit::actuator_exec
