#include "cluster.hpp"

#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>

namespace davit::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr const char* superuser = "davit";
#ifdef DAVIT_SANITIZED
constexpr auto patience = 240s;
#else
constexpr auto patience = 60s;
#endif

// The user of the server: NULL for the one that runs the test.
const passwd* server_user() {
  if (getuid() != 0) return nullptr;
  static const passwd* found = getpwnam("postgres");
  if (found == nullptr) throw std::runtime_error("there is no user postgres");
  return found;
}

void give(const std::string& path) {
  const passwd* user = server_user();
  if (user == nullptr) return;
  if (chown(path.c_str(), user->pw_uid, user->pw_gid) != 0)
    throw std::runtime_error("cannot give " + path + " away");
}

std::string new_folder() {
  std::string path = "/tmp/davit-postgres-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make " + path);
  give(path);
  return path;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string last_lines(const std::string& path) {
  std::ifstream in(path);
  const std::string all(std::istreambuf_iterator<char>(in), {});
  return all.size() < 2'000 ? all : all.substr(all.size() - 2'000);
}

// What initdb has made, once a process: it takes a second.
class Template {
 public:
  Template() : folder_(new_folder()) {}
  ~Template() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Template(const Template&) = delete;
  Template& operator=(const Template&) = delete;
  std::string path() const { return folder_ + "/data"; }
  bool made = false;

 private:
  std::string folder_;
};

}  // namespace

std::string Cluster::programs() {
  int newest = 0;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", none)) {
    if (fs::exists(entry.path() / "bin/postgres", none))
      newest = std::max(newest, std::atoi(entry.path().filename().c_str()));
  }
  return newest == 0 ? "" : "/usr/lib/postgresql/" + std::to_string(newest) + "/bin";
}

pid_t Cluster::spawn(const std::vector<std::string>& words, int output) const {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const passwd* user = server_user();
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  // Only what is safe between fork and exec in a process with threads.
  if (user != nullptr &&
      (setgroups(0, nullptr) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0))
    _exit(126);
  prctl(PR_SET_PDEATHSIG, SIGQUIT);  // after the change of the user, which forgets it
  if (getppid() != parent) _exit(126);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (chdir(folder_.c_str()) != 0) _exit(126);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

void Cluster::run(const std::vector<std::string>& words) const {
  const std::string log = folder_ + "/commands.log";
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const int status = wait_for(spawn(words, output));
  close(output);
  if (status != 0) throw std::runtime_error(words[0] + " failed: " + last_lines(log));
}

void Cluster::make_folder() {
  if (programs().empty()) throw std::runtime_error("PostgreSQL is not installed");
  folder_ = new_folder();
}

Cluster::Cluster(std::vector<std::string> settings, bool own) : settings_(std::move(settings)) {
  static Template made;
  make_folder();
  const auto initialise = [&](const std::string& path) {
    run({programs() + "/initdb", "-D", path, "-U", superuser, "-A", "trust", "-E", "UTF8",
         "--locale=C.UTF-8", "--no-sync"});
  };
  if (own) {
    initialise(data());
  } else {
    if (!made.made) initialise(made.path());
    made.made = true;
    run({"cp", "-a", made.path(), data()});
  }
  start();
}

Cluster::Cluster(StandbyOf of) : settings_(of.primary.settings_) {
  make_folder();
  run({programs() + "/pg_basebackup", "-h", of.primary.folder(), "-U", superuser, "-D", data(),
       "-R", "-X", "stream", "-c", "fast", "--no-sync"});
  start();
}

Cluster::~Cluster() {
  if (server_ != 0) stop(SIGQUIT);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Cluster::start() {
  std::vector<std::string> words = {programs() + "/postgres", "-D", data()};
  for (const char* setting : {"listen_addresses=", "max_connections=200", "fsync=off"})
    words.insert(words.end(), {"-c", setting});
  words.insert(words.end(), {"-c", "unix_socket_directories=" + folder_});
  for (const auto& setting : settings_) words.insert(words.end(), {"-c", setting});
  const std::string log = folder_ + "/server.log";
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  server_ = spawn(words, output);
  close(output);
  const auto until = std::chrono::steady_clock::now() + patience;
  while (PQping(connection().c_str()) != PQPING_OK) {
    if (std::chrono::steady_clock::now() > until || waitpid(server_, nullptr, WNOHANG) != 0)
      throw std::runtime_error("PostgreSQL does not answer: " + last_lines(log));
    std::this_thread::sleep_for(10ms);
  }
}

void Cluster::stop(int signal) {
  kill(server_, signal);
  (void)wait_for(server_);
  server_ = 0;
  if (signal != SIGKILL) return;
  // Its children notice that it is gone. A new server does not start before they have ended.
  const auto until = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < until) {
    bool lives = false;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
      std::error_code gone;
      lives = lives || fs::read_symlink(entry.path() / "cwd", gone) == data();
    }
    if (!lives) return;
    std::this_thread::sleep_for(20ms);
  }
}

void Cluster::back_up(const std::string& to) {
  const std::string copy = folder_ + "/copy";
  run({programs() + "/pg_basebackup", "-h", folder_, "-U", superuser, "-D", copy, "-X", "stream",
       "-c", "fast", "--no-sync"});
  fs::copy(copy, to, fs::copy_options::recursive);
  fs::remove_all(copy);
}

void Cluster::bring_back(const std::string& from) {
  fs::remove_all(data());
  fs::copy(from, data(), fs::copy_options::recursive);
  fs::permissions(data(), fs::perms::owner_all);
  give(data());
  for (const auto& entry : fs::recursive_directory_iterator(data())) give(entry.path());
}

void Cluster::promote() {
  sql("SELECT pg_promote()");
}

void Cluster::admit(const std::string& lines) {
  std::ofstream(data() + "/pg_hba.conf") << lines;
  sql("SELECT pg_reload_conf()");
}

std::string Cluster::connection(const std::string& database) const {
  return "host=" + folder_ + " user=" + superuser + " dbname=" + database;
}

std::string Cluster::database(const std::string& options) {
  static std::atomic<int> made{0};
  const std::string name = "d" + std::to_string(++made);
  sql("CREATE DATABASE " + name + " " + options);
  return name;
}

std::string Cluster::sql(const std::string& text, const std::string& database) {
  const std::unique_ptr<PGconn, void (*)(PGconn*)> c(PQconnectdb(connection(database).c_str()),
                                                     &PQfinish);
  if (PQstatus(c.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(c.get()));
  PQsetNoticeProcessor(
      c.get(), [](void*, const char*) {}, nullptr);
  const std::unique_ptr<PGresult, void (*)(PGresult*)> r(PQexec(c.get(), text.c_str()), &PQclear);
  const ExecStatusType status = PQresultStatus(r.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
    throw std::runtime_error(text + ": " + PQerrorMessage(c.get()));
  return PQntuples(r.get()) == 0 || PQnfields(r.get()) == 0 ? "" : PQgetvalue(r.get(), 0, 0);
}

}  // namespace davit::test
