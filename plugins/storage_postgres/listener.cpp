#include "listener.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "davit/backoff.hpp"
#include "davit/storage.hpp"
#include "presence.hpp"
#include "text_form.hpp"

namespace davit::storage_postgres {
namespace {

using namespace std::chrono_literals;

constexpr Backoff::Limits between_connections{100ms, 5'000ms};
// What others tell. Each process finds out for itself whether it leads.
constexpr uint32_t everything =
    DAVIT_HINT_RECORDS | DAVIT_HINT_STATUSES | DAVIT_HINT_AGENTS | DAVIT_HINT_INTENTS;
// The server is asked so often who leads, and thereby whether the connection lives.
constexpr std::chrono::milliseconds ask_interval = 5s;
// The server ends the connection when it was asked nothing for so long. Three questions may be lost
// or late.
constexpr std::chrono::milliseconds lease = 20s;
constexpr int version_with_idle_timeout = 140'000;

class Receiver : public NotificationReceiver {
 public:
  Receiver(pqxx::connection& connection, const std::string& channel,
           const std::function<void(uint32_t)>& heard)
      : NotificationReceiver(connection, channel), own_(connection.backendpid()), heard_(heard) {}
  // Somebody else may use the channel. Then it is a hint of everything.
  void operator()(const std::string& payload, int backend_pid) override {
    if (backend_pid == own_) return;
    const auto what = static_cast<uint32_t>(to_number(payload)) & everything;
    heard_(what == 0 ? everything : what);
  }

 private:
  const int own_;
  const std::function<void(uint32_t)>& heard_;
};

}  // namespace

Listener::Listener(const Host& host, Pool& pool, std::string schema,
                   std::function<void(uint32_t what)> heard)
    : host_(host), pool_(pool), schema_(std::move(schema)), heard_(std::move(heard)) {}

void Listener::begin(std::unique_ptr<Session> first) {
  first_ = std::move(first);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread_ = std::thread([this] { run(); });
}

void Listener::end() {
  if (!thread_.joinable()) return;
  operation_.cancel();
  wake();
  thread_.join();
  close(wake_);
}

void Listener::wake() {
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof one);
}

void Listener::tell(uint32_t what) {
  if (wanted_.fetch_or(what) == 0) wake();
}

void Listener::run() {
  Backoff backoff(between_connections);
  bool told = false;
  while (!ended()) {
    const auto begun = host_.now();
    try {
      listen();
    } catch (const std::exception& e) {
      if (listens_ || !told) {
        host_.warn("hints of other servers do not come: readers read at intervals",
                   {{"error", first_line(e.what())}});
      }
      told = true;
    }
    leads_until_ = 0;
    if (listens_.exchange(false) && host_.now() - begun > lease) backoff.reset();
    if (!ended()) rest(backoff.next(host_.random()));
  }
}

void Listener::rest(std::chrono::milliseconds delay) {
  const auto until = host_.now() + delay;
  while (!ended() && host_.now() < until) {
    pollfd woken{wake_, POLLIN, 0};
    (void)poll(&woken, 1, static_cast<int>(delay.count()));
    uint64_t count = 0;
    (void)!read(wake_, &count, sizeof count);
  }
}

// One connection's life.
void Listener::listen() {
  auto session = std::move(first_);
  if (!session) {
    auto made = pool_.connect(operation_);
    if (!made.ok()) throw Fault(made.error());
    session = std::move(*made);
    share_store(*session, schema_);
  }
  pqxx::connection& connection = session->connection();
  const Receiver receiver(connection, schema_, heard_);
  session->script("SET idle_in_transaction_session_timeout = 0");  // and the LISTEN is sent
  if (session->server().version >= version_with_idle_timeout)
    session->script("SET idle_session_timeout = " + std::to_string(lease.count()));
  listens_ = true;
  ask_who_leads(*session);
  heard_(everything);
  while (!ended()) {
    if (const uint32_t what = wanted_.exchange(0); what != 0) {
      session->script("NOTIFY " + quoted_name(schema_) + ", " + quoted_text(std::to_string(what)));
    }
    wait(connection);
    if (host_.now() >= ask_at_) ask_who_leads(*session);
  }
}

// The lease begins before the question: the server has heard of this process since.
void Listener::ask_who_leads(Session& session) {
  const auto asked = host_.now();
  const bool did = leads();
  const bool does = storage_postgres::leads(session, schema_);
  leads_until_ = does ? (asked + lease).count() : 0;
  ask_at_ = asked + ask_interval;
  if (!does || did) return;
  host_.info("this server leads: it purges and carries out intents");
  heard_(DAVIT_HINT_LEADER);
}

// Until something comes, or something is to be told.
void Listener::wait(pqxx::connection& connection) {
  pollfd both[] = {{connection.sock(), POLLIN, 0}, {wake_, POLLIN, 0}};
  (void)poll(both, 2, static_cast<int>(ask_interval.count()));
  uint64_t count = 0;
  (void)!read(wake_, &count, sizeof count);
  if (both[0].revents != 0) {
    connection.get_notifs();
    if ((both[0].revents & (POLLHUP | POLLERR)) != 0 || !connection.is_open())
      throw Fault({Code::unavailable, "the connection was lost"});
  }
}

}  // namespace davit::storage_postgres
