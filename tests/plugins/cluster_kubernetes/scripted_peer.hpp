// A server on loopback that answers each request as the test says at present.
#pragma once

#include "edge.hpp"

namespace davit::cluster_kubernetes {

class ScriptedPeer {
 public:
  // The whole answer. Empty: none comes; the connection stays open until the peer ends.
  using Answer = std::function<std::string(const std::string& request)>;

  explicit ScriptedPeer(Answer answer)
      : answer_(std::move(answer)), socket_(listening(64, port)), thread_([this] { serve(); }) {}
  ~ScriptedPeer() {
    stopping_ = true;
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    for (const int c : held_) ::close(c);
    ::close(socket_);
  }
  void answer(Answer now) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(now);
  }
  // Each with its headers and its body.
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port); }
  uint16_t port = 0;

 private:
  void serve() {
    while (!stopping_) {
      const int c = ::accept(socket_, nullptr, nullptr);
      if (c < 0) continue;
      const std::string request = read(c);
      std::string answer;
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
        answer = answer_(request);
      }
      if (answer.empty()) {
        held_.push_back(c);
        continue;
      }
      for (size_t sent = 0; sent < answer.size();) {
        const ssize_t n = ::send(c, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) break;
        sent += static_cast<size_t>(n);
      }
      ::close(c);
    }
  }
  static std::string read(int c) {
    std::string text;
    char piece[4096];
    ssize_t n = 0;
    size_t whole = std::string::npos;
    while (text.size() < whole && (n = ::recv(c, piece, sizeof piece, 0)) > 0) {
      text.append(piece, static_cast<size_t>(n));
      const size_t end = text.find("\r\n\r\n"), length = text.find("Content-Length: ");
      if (end == std::string::npos) continue;
      whole = end + 4 + (length < end ? std::stoul(text.substr(length + 16)) : 0);
    }
    return text;
  }
  std::mutex mutex_;
  Answer answer_;
  std::vector<std::string> requests_;
  int socket_;
  std::atomic<bool> stopping_{false};
  std::vector<int> held_;
  std::thread thread_;
};

}  // namespace davit::cluster_kubernetes
