// Completion of davit's command line in a shell. The script that `davit completion SHELL` prints
// asks the hidden command `davit __complete -- WORDS...` at each Tab; so what is completed is
// always what this davit takes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "davit.hpp"

namespace davit::host {

struct Completion {
  struct Candidate {
    std::string word, about;
  };
  std::vector<Candidate> candidates;
  bool files = false;  // the names of files, too
  // What only a running server knows: completion_records.hpp asks it.
  enum class Records { none, kinds, regions, ids };
  Records records = Records::none;
  bool pairs = false;                          // ids as KIND/ID
  std::string kind, region;                    // of the ids; an empty one: of all
  std::string typed;                           // how the word begins
  std::map<std::string, std::string> options;  // values of the words before, by the long names
};

// What the last word, which may be empty or half typed, can become.
Completion complete(const Command& davit, const std::vector<std::string>& words);

CommandPtr completion_command();
CommandPtr complete_command(const Command& davit);

}  // namespace davit::host
