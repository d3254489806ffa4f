// Outcome: what came of one call of a Vault, and what it means for the items. Pure.
#pragma once

#include <map>
#include <optional>

#include "davit/secret.hpp"
#include "davit/types.hpp"

namespace davit::secret_store {

struct Outcome {
  enum class Meaning : uint8_t {
    decrypted,   // `values` has them
    refused,     // perhaps because of one item: `error` is for that item
    group,       // nothing of this group is to be had
    everything,  // nothing is to be had, and another attempt now is of no use
    later,       // another attempt may help
    over,        // the caller has given up, or its deadline has passed
  };
  Meaning meaning = Meaning::everything;
  Code code = Code::ok;  // of the call, for the metric
  std::vector<std::optional<Secret>> values;
  std::map<size_t, Error> errors;  // why a single item has no value, by its place
  std::string version;             // of all values; empty: they have none
  size_t strangers = 0;            // values that were not asked for
  Error error;
  bool certain = false;  // refused: the Vault says that it is the item
  // What the call says about the Vault. Whatever a Vault answers is no failure of it.
  enum class Peer : uint8_t {
    works,
    fails,    // it is away, or what answers is none
    unknown,  // it was not asked, or its answer not waited for
  };
  Peer peer = Peer::works;
};

// Of a call that failed.
Outcome failed(Outcome::Meaning meaning, Code code, Error error, Outcome::Peer peer);
// Of a request that got no answer.
Outcome outcome_of(const Error& error);

}  // namespace davit::secret_store
