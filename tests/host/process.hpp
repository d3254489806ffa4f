// Runs the davit executable as an operator does, and keeps what it printed.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace davit::test {

// A directory that goes with the test; files in it by name.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  // Writes a file and returns its path. "conf.d/a.toml" makes the folder.
  std::string write(const std::string& name, const std::string& content) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Process {
 public:
  // `output`: a file that takes standard output, instead of out().
  explicit Process(std::vector<std::string> arguments, const char* output = nullptr);
  ~Process();  // kills it when it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Reads standard error until a line contains `text`; false when it ended, or 20 s passed, without
  // one.
  bool wait_for_line(const std::string& text);
  void signal(int number) const;
  pid_t pid() const { return pid_; }
  // Reads both ends to their end and returns the exit code; 128 + signal when one ended it.
  int wait();
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }

 private:
  bool read_some(int timeout_ms);
  pid_t pid_ = -1;
  int out_fd_ = -1, err_fd_ = -1;
  std::string out_, err_;
};

}  // namespace davit::test
