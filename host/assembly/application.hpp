// One host from its configuration to its end. The commands `davit run`, `davit check`, `davit
// storage restore`, `davit storage migrate` and `davit storage copy` use it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <davit/storage.hpp>

namespace davit::host {

// Exit codes of the program.
constexpr int exit_ok = 0, exit_failed = 1,
              exit_refused = 2,  // usage, configuration, start-up
    exit_late = 3,               // something did not stop in time, and was left where it was
    exit_unconfigured = 78;      // nobody has configured it yet (EX_CONFIG of sysexits.h)

class Faults;
struct Life;  // life.hpp

class Application {
 public:
  explicit Application(std::vector<std::string> files);
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  // Runs until SIGTERM or SIGINT. SIGHUP makes it read the configuration again. Faults of the
  // configuration go to standard error, one per line; a configuration or a token that is not there
  // is one line and exit_unconfigured. After the signal the process ends within the
  // stop timeout and two seconds, whatever hangs: in that case with exit_late and a line that names
  // what hangs.
  int run();
  // Creates and wires the plugins, asks each whether it would start, and prints the graph. Starts
  // nothing. `running`: a davit of these files is running, so a resource that another process holds
  // is no fault. `quiet`: prints faults only.
  int check(bool running, bool quiet = false);
  // Prints what the configuration needs beyond the sandbox of the shipped units. Reads the files
  // alone.
  int sandbox();
  // Prints the rights that the plugins' accounts need, as documents that grant them. Creates and
  // wires the plugins; starts nothing and contacts no cluster.
  int rights();
  // The same documents as a text. nullopt: a fault, which has been printed.
  std::optional<std::string> rights_documents();
  // Makes the copy at `file` the store of a storage instance. Starts nothing. `storage` may be
  // empty if only one instance can be restored.
  int restore(const std::string& file, const std::string& storage);
  // Brings the schema of a storage instance to the version that its plugin needs, and prints the
  // steps. `dry_run`: prints them only. Starts nothing. `storage` may be empty as above.
  int migrate(const std::string& storage, bool dry_run);

  // For a command that works on one storage itself. Creates and wires the plugins and starts
  // nothing. Returns the name of the storage instance, which may be left out if there is only one.
  // nullopt: a fault of the configuration, which has been printed. The log says warnings and errors
  // only.
  std::optional<std::string> prepare_storage(const std::string& storage);
  // The same for a command that works with what offers an interface, one or several: their names.
  // The log says errors only.
  std::optional<std::vector<std::string>> prepare_offering(std::string_view interface);
  // After one of the two. Nothing: the instance does not offer the interface.
  std::optional<davit_ref> offer(const std::string& instance, std::string_view interface) const;
  // The storage instance. The caller may block.
  storage::Client store(const std::string& instance) const;
  // Whether both have the same module with the same settings and the same state directory.
  bool has_same(const std::string& instance, const Application& other,
                const std::string& others) const;
  // Starts the instance and what it looked up.
  Result<> start_only(const std::string& instance, const Operation& op);
  // Stops what start_only has started. An error says what did not stop: end the process then.
  Result<> stop_started();

 private:
  struct Parts;
  bool prepare(bool check);
  // The one storage that offers the table, or `storage`. NULL: refused, and the line is printed.
  std::optional<davit_ref> storage_with(const char* interface, const std::string& storage,
                                        const std::string& none);
  int refuse(const std::string& line);
  int serve();
  void let_callers_leave(std::chrono::milliseconds delay);
  void reload();
  std::string take_new_configuration();  // the first fault, which changes nothing; or empty
  std::string running_status() const;
  bool is_written();
  // For a check beside a running davit: finds out whether this process is given the credentials.
  void find_credentials();
  // Takes out the faults that only say that credentials are out of reach.
  void leave_to_the_running_one(Faults& faults);
  int wind_down(int code);

  std::vector<std::string> files_;
  bool is_quiet_ = false;
  bool unconfigured_ = false;  // found by prepare
  // Where the credentials of the running davit would be, if this process cannot reach them.
  std::string out_of_reach_;
  bool is_left_to_the_running_one_ = false;
  std::unique_ptr<Life> life_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace davit::host
