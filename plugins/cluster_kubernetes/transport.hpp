// HTTP transfers over libcurl's multi interface; the only file that knows libcurl is transport.cpp.
//
// Everything but wake() belongs to the one thread that calls poll(). Callbacks run inside of poll()
// and resume().
#pragma once

#include <map>
#include <memory>

#include "answer.hpp"
#include "token.hpp"

namespace davit::cluster_kubernetes {

class Transport {
 public:
  struct Options {
    std::chrono::milliseconds connect_timeout{5'000};
    std::chrono::milliseconds stream_idle_timeout{
        180'000};  // a stream that is silent for so long is dead
    size_t connections_kept = 128;
    size_t response_bytes_max = 256u << 20;
  };
  struct Spec {
    std::string method = "GET";
    std::string path;
    std::string accept = "application/json";
    std::string content_type;  // of the body; empty: there is none
    Pairs headers;
    std::string body;
    std::chrono::milliseconds timeout{0};  // of a stream: until its first header; 0: none
    // A stream's body in pieces, while the status is 200; false: not now, offer it again after
    // resume().
    std::function<bool(std::string_view)> data;
    // The head of an answer with status 200 has come.
    std::function<void()> opened;
  };
  using Done = std::function<void(Outcome)>;
  using Id = uint64_t;

  // Throws nothing; a libcurl that cannot start shows in every transfer.
  Transport(std::shared_ptr<const Access> access, Token& token, Options options);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // From now on; what runs goes on as it began.
  void use(std::shared_ptr<const Access> access);
  // `done` comes once, from poll(), unless abort() comes before.
  Id start(Spec spec, std::chrono::nanoseconds now, Done done);
  void abort(Id id);
  void resume(Id id);
  // Moves transfers on; waits for sockets at most so long.
  void poll(std::chrono::milliseconds wait);
  // Ends streams whose server says nothing at all.
  void expire(std::chrono::nanoseconds now);
  void wake();  // [any] ends a poll
  size_t running() const { return transfers_.size(); }

 private:
  struct Transfer;
  struct Curl;
  void set_connection(Transfer& transfer);
  void set_request(Transfer& transfer, std::string_view token);
  bool go_again(Transfer& transfer, int code);
  void finish(Id id, int code);

  std::shared_ptr<const Access> access_;
  Token& token_;
  const Options options_;
  std::unique_ptr<Curl> curl_;
  std::map<Id, std::unique_ptr<Transfer>> transfers_;
  Id next_ = 1;
};

}  // namespace davit::cluster_kubernetes
