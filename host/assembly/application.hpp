// One host from its configuration to its end: what `davit run` and `davit check` share.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace davit::host {

// Exit codes of the program.
constexpr int exit_ok = 0, exit_failed = 1,
              exit_refused = 2,  // usage, configuration, start-up
    exit_late = 3;               // something did not stop in time, and was left where it was

struct Life;  // life.hpp

class Application {
 public:
  explicit Application(std::vector<std::string> files);
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  // Runs until SIGTERM or SIGINT; SIGHUP has it read the configuration again. Faults of the
  // configuration go to standard error, each on its line. From the signal on it ends within the
  // stop timeout and two seconds, whatever hangs: then with exit_late and a line that says who.
  int run();
  // Makes and wires everything, asks every plugin whether it would start, prints the graph; starts
  // nothing. `running`: beside a davit of these files, so what another process holds is no fault.
  int check(bool running);
  // Prints what the plugins' accounts must be allowed, as documents that grant it. Makes and wires
  // everything; starts nothing and asks nobody.
  int rights();
  // Makes the copy at `file` the store of a storage instance; starts nothing. `storage` may be
  // empty when only one can.
  int restore(const std::string& file, const std::string& storage);

 private:
  struct Parts;
  bool prepare(bool check);
  int refuse(const std::string& line);
  int serve();
  void reload();
  int wind_down(int code);

  std::vector<std::string> files_;
  std::unique_ptr<Life> life_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace davit::host
