// How many bytes the requests of one server take, in all and of one caller (a credential at an
// address): what has come and was not taken by a method, and what is still to come of a message
// that said how long it is. What has found room comes to its end, whatever comes later. Any thread.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include <davit/types.hpp>

#include "episode.hpp"

struct davit_metric;

namespace davit::host {

struct Core;
class Log;

class RequestBytes {
 public:
  // One caller has half of `most`, all callers without credentials together a sixteenth.
  RequestBytes(const Core&, const std::string& server, size_t most);

  // What one call has of it, until it goes.
  class Share {
   public:
    // `whose` is empty for a caller without credentials.
    Share(RequestBytes& of, std::string whose) : of_(of), whose_(std::move(whose)) {}
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // So many bytes from now on, beside those on their way. RESOURCE_EXHAUSTED: there is no room,
    // and it has what it had.
    Result<> hold(size_t bytes);
    // A message is on its way to the method, and so many are held now. Never refused.
    void pass(size_t message, size_t held);
    // The method has it.
    void taken();

   private:
    friend class RequestBytes;
    RequestBytes& of_;
    const std::string whose_;
    size_t held_ = 0, passed_ = 0;  // under the mutex of what it is a share of
  };

  // Once a second: says when nothing is refused any more.
  void look_after();
  size_t size() const;
  size_t callers() const;

 private:
  Result<> resize(Share&, size_t held, size_t passed, bool may_refuse);
  Error no_room(const Share&, size_t wanted, size_t taken, size_t most);

  const std::string server_;
  const size_t most_;
  Log& log_;
  davit_metric* const bytes_;
  davit_metric* const refused_;
  mutable std::mutex mutex_;
  size_t size_ = 0;
  std::unordered_map<std::string, size_t> callers_;
  Episode full_;
};

}  // namespace davit::host
