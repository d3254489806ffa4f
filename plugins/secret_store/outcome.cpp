#include "outcome.hpp"

namespace davit::secret_store {

Outcome failed(Outcome::Meaning meaning, Code code, Error error, Outcome::Peer peer) {
  Outcome out;
  out.meaning = meaning;
  out.code = code;
  out.error = std::move(error);
  out.peer = peer;
  return out;
}

Outcome outcome_of(const Error& error) {
  using Meaning = Outcome::Meaning;
  using Peer = Outcome::Peer;
  switch (error.code) {
    case Code::cancelled:
    case Code::deadline_exceeded:
      return failed(Meaning::over, error.code, error, Peer::unknown);
    case Code::unavailable:
      return failed(Meaning::later, error.code, error, Peer::fails);
    case Code::resource_exhausted:
      return failed(Meaning::everything, error.code, error, Peer::fails);
    default: {
      // Something of ours, such as a certificate: it says nothing about the Vault.
      Error later = error;
      later.code = error.code == Code::unauthenticated ? error.code : Code::unavailable;
      return failed(Meaning::everything, error.code, std::move(later), Peer::unknown);
    }
  }
}

}  // namespace davit::secret_store
