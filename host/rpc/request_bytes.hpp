// RequestBytes limits the memory of requests that one `connect` server is receiving, in all and for
// each caller (one credential at one address). It counts the bytes that have arrived and that no
// method has taken yet, and the rest of messages that announced their length. A message that
// announced its length and found room is always received to its end. Any thread.
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
  // `most` is the limit of the server. One caller may use half of it; all callers without
  // credentials together a sixteenth.
  RequestBytes(const Core&, const std::string& server, size_t most);

  // What one call uses. Its destructor releases everything.
  class Share {
   public:
    // `whose` is empty for a caller without credentials.
    Share(RequestBytes& of, std::string whose) : of_(of), whose_(std::move(whose)) {}
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // The call now holds `bytes`, besides the messages passed to the method. RESOURCE_EXHAUSTED if
    // there is no room; the call then holds what it held before.
    Result<> hold(size_t bytes);
    // `message` bytes are on their way to the method, and the call now holds `held` bytes. Never
    // refused.
    void pass(size_t message, size_t held);
    // The method has taken the message.
    void taken();

   private:
    friend class RequestBytes;
    RequestBytes& of_;
    const std::string whose_;
    size_t held_ = 0, passed_ = 0;  // guarded by of_.mutex_
  };

  // Call it once a second. Logs when no request has been refused for a while.
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
