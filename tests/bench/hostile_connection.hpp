// One HTTP/2 connection of a hostile agent: as many calls of one habit at once as it is told, and a
// new one for each that ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace davit::bench {

// How long a call is kept.
enum class Until { answered, message, never_read, ever };

struct Habit {
  std::string name, path;
  size_t at_once;
  Until until;
  std::function<std::string(uint64_t call)> message;
};

// Of one habit, over all its connections.
struct HabitCounts {
  uint64_t begun = 0, ended = 0, connections = 0;
};

class HostileConnection {
 public:
  // `server` is 127.0.0.1:PORT. Throws when nobody listens there.
  HostileConnection(const std::string& server, std::string token, std::string region,
                    const Habit& habit, HabitCounts& counts);
  ~HostileConnection();
  HostileConnection(const HostileConnection&) = delete;
  HostileConnection& operator=(const HostileConnection&) = delete;
  // Returns when `over` is set or the server has closed the connection.
  void run(const std::atomic<bool>& over);

 private:
  struct Session;
  std::unique_ptr<Session> session_;
};

}  // namespace davit::bench
