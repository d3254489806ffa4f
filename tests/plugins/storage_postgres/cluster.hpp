// A PostgreSQL cluster of the tests' own: its files in a temporary folder, its socket there, too.
// It ends with the test, whatever becomes of the test. It does not run as root, so root starts it
// as the user postgres.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace davit::test {

class Cluster {
 public:
  // The folder of the programs of the newest PostgreSQL; empty: none is installed.
  static std::string programs();

  // Makes a cluster and starts it. Those of one process share a system identifier, unless it has
  // one of its `own`. `settings` are lines of postgresql.conf, without spaces: "fsync=on".
  explicit Cluster(std::vector<std::string> settings = {}, bool own = false);
  // A standby of another one, which runs.
  struct StandbyOf {
    Cluster& primary;
  };
  explicit Cluster(StandbyOf of);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  void start();
  // Returns when the server's own process has ended. SIGINT: without waiting for its clients.
  // SIGKILL: as when the machine fails.
  void stop(int signal);
  // A copy of the files while it runs, and back; the latter needs it stopped.
  void back_up(const std::string& to);
  void bring_back(const std::string& from);
  void promote();
  // Who may connect from now on: lines of pg_hba.conf.
  void admit(const std::string& lines);

  // In libpq's form, for the superuser.
  std::string connection(const std::string& database = "postgres") const;
  const std::string& folder() const { return folder_; }
  // A new database, and its name. `options` follow CREATE DATABASE name.
  std::string database(const std::string& options = "");
  // The first column of the first row, as a text. An error is a failure of the test.
  std::string sql(const std::string& text, const std::string& database = "postgres");

 private:
  void make_folder();
  // Runs a program of PostgreSQL's, or of the system's, as the cluster's user. An error throws.
  void run(const std::vector<std::string>& words) const;
  pid_t spawn(const std::vector<std::string>& words, int output) const;
  std::string data() const { return folder_ + "/data"; }

  std::string folder_;
  std::vector<std::string> settings_;
  pid_t server_ = 0;
};

}  // namespace davit::test
