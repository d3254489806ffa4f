// One host from its configuration to its end: what `davit run` and `davit check` share.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace davit::host {

// Exit codes of the program.
constexpr int exit_ok = 0, exit_failed = 1,
              exit_refused = 2;  // refused: usage, configuration, start-up

class Application {
 public:
  explicit Application(std::vector<std::string> files);
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  // Runs until SIGTERM or SIGINT. Faults of the configuration go to standard error, each on its
  // line.
  int run();
  // Makes and wires everything, asks every plugin whether it would start, prints the graph; starts
  // nothing.
  int check();

 private:
  struct Parts;
  bool prepare(bool check);
  int refuse(const std::string& line);
  int serve();
  int wind_down(int code);

  std::vector<std::string> files_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace davit::host
