// Makes HTTP transfers with libcurl's multi interface. Only transport.cpp includes libcurl.
//
// All functions except wake() belong to the thread that calls poll(). Callbacks run inside poll(),
// resume() and expire().
#pragma once

#include <map>
#include <memory>

#include <davit/wiped.hpp>

#include "answer.hpp"
#include "token.hpp"

namespace davit::cluster_kubernetes {

class Transport {
 public:
  struct Options {
    std::chrono::milliseconds connect_timeout{5'000};
    // A stream that is silent for this long is dead.
    std::chrono::milliseconds stream_idle_timeout{180'000};
    size_t connections_kept = 128;
    size_t response_bytes_max = 256u << 20;  // decompressed
    bool compress = true;                    // ask for gzip, unless the access says no
  };
  struct Spec {
    std::string method = "GET";
    std::string path;
    std::string accept = "application/json";
    std::string content_type;  // of the body; empty: there is no body
    Pairs headers;
    Wiped body;
    std::chrono::milliseconds timeout{0};  // for a stream: until its first header; 0: no limit
    // Receives a stream's body in pieces while the status is 200. False: not now; the piece comes
    // again after resume().
    std::function<bool(std::string_view)> data;
    // Called when the headers of an answer with status 200 are complete.
    std::function<void()> opened;
  };
  // The spec comes back, so that the same can be sent again.
  using Done = std::function<void(Outcome, Spec)>;
  using Id = uint64_t;

  // Throws nothing. If libcurl cannot start, every transfer fails.
  Transport(std::shared_ptr<const Access> access, Token& token, Options options);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Applies to transfers that start from now on. Running transfers are not changed.
  void use(std::shared_ptr<const Access> access);
  // poll() or expire() calls `done` once, unless abort() is called before.
  Id start(Spec spec, std::chrono::nanoseconds now, Done done);
  void abort(Id id);
  void resume(Id id);
  // Advances the transfers. Waits at most this long for sockets.
  void poll(std::chrono::milliseconds wait);
  // Ends streams whose server sends no headers in time.
  void expire(std::chrono::nanoseconds now);
  void wake();  // [any] ends a wait in poll()
  size_t running() const { return transfers_.size(); }
  // Bytes of bodies as they came, of transfers that have ended since the last call.
  uint64_t take_received() { return std::exchange(received_, 0); }

 private:
  struct Transfer;
  struct Curl;
  void set_connection(Transfer& transfer);
  void set_request(Transfer& transfer, std::string_view token);
  bool go_again(Transfer& transfer, int code);
  void distrust(const Transfer& transfer);
  void finish(Id id, int code);
  void count(void* easy);

  std::shared_ptr<const Access> access_;
  Token& token_;
  std::chrono::nanoseconds distrusted_{0};  // connections of before are not used; 0: none are
  const Options options_;
  std::unique_ptr<Curl> curl_;
  std::map<Id, std::unique_ptr<Transfer>> transfers_;
  Id next_ = 1;
  uint64_t received_ = 0;
};

}  // namespace davit::cluster_kubernetes
