// The services of a TestHost, slot by slot.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "davit/storage.hpp"
#include "file.hpp"
#include "shared.hpp"

namespace davit::testing {
namespace {

Runtime::Strand* strand(davit_strand* s) {
  return reinterpret_cast<Runtime::Strand*>(s);
}

}  // namespace

struct Services {
  using Shared = TestHost::Shared;
  static TestHost& of(const davit_host* h) { return TestHost::Abi::of(h); }
  static Shared& shared(const davit_host* h) { return *of(h).shared_; }

  static const void* query(const davit_host* h, davit_str id) {
    Shared& s = shared(h);
    {
      const std::lock_guard lock(s.mutex);
      if (const auto at = s.services.find(view(id)); at != s.services.end()) return at->second;
    }
    static const std::map<std::string_view, const void*> own = {{DAVIT_LOG, &log},
                                                                {DAVIT_CONFIG, config()},
                                                                {DAVIT_METRICS, &metrics},
                                                                {DAVIT_EXEC, &exec},
                                                                {DAVIT_CLOCK, &clock},
                                                                {DAVIT_LOOKUP, &lookup},
                                                                {DAVIT_STATE, &state},
                                                                {DAVIT_HEALTH, &health},
                                                                {DAVIT_SHUTDOWN, &shutdown},
                                                                {DAVIT_CREDENTIALS, &credentials},
                                                                {DAVIT_COMMIT, &commit_queue}};
    const auto at = own.find(view(id));
    return at == own.end() ? nullptr : at->second;
  }

  static void write_log(const davit_host* h, int32_t level, davit_str message,
                        const davit_pair* fields, size_t count) {
    TestHost::Line line{level, text(message), from_abi(fields, count)};
    TestHost& t = of(h);
    static const bool show = std::getenv("DAVIT_TEST_LOG") != nullptr;
    if (show) std::fprintf(stderr, "[%s] %s\n", t.own_->instance.c_str(), line.text().c_str());
    const std::lock_guard lock(shared(h).mutex);
    t.own_->log.push_back(std::move(line));
  }

  static const davit_config* config() {
    static const davit_config table = [] {
      davit_config c = ConfigTree::slots();
      c.root = [](const davit_host* h) { return of(h).own_->tree.root(); };
      c.reject = [](const davit_host* h, const davit_config_node* n, davit_str message) {
        of(h).own_->tree.reject(n, view(message));
      };
      return c;
    }();
    return &table;
  }

  // A metric's handle points to its entry in the map. The address of an entry never changes.
  struct Handle {
    Shared* shared;
    Shared::Value* value;
  };
  static davit_metric* metric(const davit_host* h, int32_t type, davit_str name, davit_str,
                              const davit_pair* labels, size_t count) {
    Shared& s = shared(h);
    const std::lock_guard lock(s.mutex);
    auto& value =
        s.metrics
            .try_emplace(metric_key(view(name), from_abi(labels, count)), Shared::Value{type, 0, 0})
            .first->second;
    // The ABI says that a metric lives as long as the process.
    static std::mutex mutex;
    static std::deque<Handle> handles;
    const std::lock_guard both(mutex);
    return reinterpret_cast<davit_metric*>(&handles.emplace_back(Handle{&s, &value}));
  }
  static void change(davit_metric* m, double by, bool set) {
    const Handle& handle = *reinterpret_cast<Handle*>(m);
    const std::lock_guard lock(handle.shared->mutex);
    handle.value->value = set ? by : handle.value->value + by;
    ++handle.value->count;
  }

  static int32_t find(const davit_host* h, davit_str instance, davit_str id, davit_ref* out,
                      davit_error* e) {
    return guard(e, [&]() -> Result<> {
      Shared& s = shared(h);
      const std::lock_guard lock(s.mutex);
      const auto* n = s.neighbour(view(instance));
      if (n == nullptr)
        return Error{Code::not_found, "no instance is named \"" + text(instance) + "\""};
      if (!role(s, *n, view(instance), view(id), out)) {
        return Error{Code::failed_precondition,
                     "instance \"" + text(instance) + "\" does not play the role " + text(id)};
      }
      return {};
    });
  }
  static bool role(Shared& s, const Shared::Neighbour& n, std::string_view name,
                   std::string_view id, davit_ref* out) {
    if (!plain_role(s, n, name, id, out)) return false;
    if (id == DAVIT_KIND) *out = guarded(s, *out);
    return true;
  }
  static davit_ref guarded(Shared& s, davit_ref kind) {
    for (KindGuard& known : s.kinds) {
      if (known.guards(kind)) return known.ref();
    }
    return s.kinds.emplace_back(kind).ref();
  }
  static bool plain_role(const Shared& s, const Shared::Neighbour& n, std::string_view name,
                         std::string_view id, davit_ref* out) {
    for (const auto& [known, neighbour] : s.neighbours) {
      if (&neighbour == &n) name = known;  // this text outlives the call
    }
    if (const auto at = n.roles.find(id); at != n.roles.end()) {
      *out = at->second;
      out->instance = str(name);
      return true;
    }
    const void* vtable = n.plugin == nullptr ? nullptr : n.plugin->query(n.self, str(id));
    if (vtable == nullptr) return false;
    *out = {n.self, vtable, str(name)};
    return true;
  }
  static void each(const davit_host* h, davit_str id, void* ctx,
                   void (*visit)(void*, const davit_ref*)) {
    std::vector<davit_ref> found;
    {
      Shared& s = shared(h);
      const std::lock_guard lock(s.mutex);
      for (const auto& [name, neighbour] : s.neighbours) {
        davit_ref ref{};
        if (role(s, neighbour, name, view(id), &ref)) found.push_back(ref);
      }
    }
    for (const auto& ref : found) visit(ctx, &ref);
  }

  static void blocking(const davit_host* h, std::string_view instance, std::function<void()> task) {
    Shared& s = shared(h);
    const std::string name(instance.empty() ? view(h->instance) : instance);
    uint32_t limit = 1;
    {
      const std::lock_guard lock(s.mutex);
      const auto* n = s.neighbour(name);
      if (n != nullptr && n->plugin != nullptr) limit = n->plugin->max_concurrency;
    }
    s.runtime.blocking(name, limit, std::move(task));
  }

  static int32_t read_credential(const davit_host* h, davit_str path, uint32_t, void* ctx,
                                 void (*use)(void*, davit_bytes), davit_error* e) {
    return guard(e, [&]() -> Result<> {
      Shared& s = shared(h);
      std::string name = text(path);
      std::optional<std::string> content;
      {
        const std::lock_guard lock(s.mutex);
        if (const auto at = s.credentials.find(name); at != s.credentials.end())
          content = at->second;
      }
      if (!content) {
        const char* base = std::getenv("CREDENTIALS_DIRECTORY");
        if (name.starts_with("credential:")) {
          name = std::string(base == nullptr ? "" : base) + "/" + name.substr(11);
        } else if (!name.starts_with('/')) {
          name = s.directory.path() + "/" + name;
        }
        auto file = read_file(name);
        if (!file.ok()) return file.error();
        content = std::move(*file);
      }
      use(ctx, bytes(*content));
      return {};
    });
  }

  static int32_t directory(const davit_host* h, int32_t create, const davit_sink* path,
                           davit_error* e) {
    return guard(e, [&]() -> Result<> {
      const std::string own = of(h).state_directory();
      if (create != 0) std::filesystem::create_directories(own);
      emit(path, own);
      return {};
    });
  }

  // TestHost has no commit queue: each group and each report is one call of the storage, on its
  // pool, unless its caller has given up by then.
  static Result<storage::Client> client(const davit_host* h, const std::string& name,
                                        const Op& op) {
    if (auto over = given_up(op, Host(h).now())) return *over;
    davit_ref ref{};
    davit_error e{};
    const int32_t code = find(h, str(name), str(DAVIT_STORAGE), &ref, &e);
    if (code != DAVIT_OK) return take(e, code);
    return storage::Client(Host(h), ref).under(op);
  }
  static void commit(const davit_host* h, davit_str storage, const davit_op* op,
                     const davit_group* group, davit_commit_done done, void* ctx) {
    auto owned = std::make_shared<Group>(from_abi(*group));
    blocking(h, view(storage), [h, name = text(storage), op = Op(op), owned, done, ctx] {
      davit_group_result result{sizeof(davit_group_result), 0, 0, 0, 0, {}};
      const auto found = client(h, name, op);
      if (!found.ok()) {
        fill(&result.error, found.error());
      } else if (auto r = found->commit_now({*owned}); r.ok()) {
        result = to_abi(r->front());
      } else {
        fill(&result.error, r.error());
      }
      done(ctx, &result);
    });
  }
  static void report(const davit_host* h, davit_str storage, const davit_op* op,
                     const davit_status* const* statuses, size_t count, davit_report_done done,
                     void* ctx) {
    auto owned = std::make_shared<std::vector<Status>>();
    for (size_t i = 0; i < count; ++i) owned->push_back(from_abi(*statuses[i]));
    blocking(h, view(storage), [h, name = text(storage), op = Op(op), owned, done, ctx] {
      davit_error e{};
      const auto found = client(h, name, op);
      const Result<> r = found.ok() ? found->report_now(*owned) : Result<>(found.error());
      done(ctx, r.ok() ? DAVIT_OK : fill(&e, r.error()), &e);
    });
  }

  static const davit_log log;
  static const davit_metrics metrics;
  static const davit_exec exec;
  static const davit_clock clock;
  static const davit_lookup lookup;
  static const davit_credentials credentials;
  static const davit_state state;
  static const davit_health health;
  static const davit_shutdown shutdown;
  static const davit_commit commit_queue;
};

const davit_log Services::log = {
    sizeof(davit_log), [](const davit_host*, int32_t) { return int32_t{1}; }, &Services::write_log};
const davit_metrics Services::metrics = {
    sizeof(davit_metrics), &Services::metric,
    [](davit_metric* m, double by) { change(m, by, false); },
    [](davit_metric* m, double to) { change(m, to, true); },
    [](davit_metric* m, double value) { change(m, value, false); }};
const davit_exec Services::exec = {
    sizeof(davit_exec),
    [](const davit_host* h) { return reinterpret_cast<davit_strand*>(shared(h).runtime.strand()); },
    [](davit_strand* s) { Runtime::retain(strand(s)); },
    [](davit_strand* s) { Runtime::release(strand(s)); },
    [](davit_strand* s, davit_task task, void* arg) { Runtime::post(strand(s), task, arg); },
    [](davit_strand* s, int64_t delay, davit_timer_task task, void* arg) {
      return Runtime::timer(strand(s), delay, task, arg);
    },
    [](davit_strand* s, uint64_t timer) { Runtime::timer_cancel(strand(s), timer); },
    [](const davit_host* h, davit_str instance, davit_task task, void* arg) {
      blocking(h, view(instance), [task, arg] { task(arg); });
    }};
const davit_clock Services::clock = {
    sizeof(davit_clock), [](const davit_host* h) { return shared(h).runtime.unix_ns(); },
    [](const davit_host* h) { return shared(h).runtime.monotonic_ns(); },
    [](const davit_host* h) { return shared(h).runtime.random(); }};
const davit_lookup Services::lookup = {sizeof(davit_lookup), &Services::find, &Services::each};
const davit_credentials Services::credentials = {sizeof(davit_credentials),
                                                 &Services::read_credential};
const davit_state Services::state = {sizeof(davit_state), &Services::directory};
const davit_health Services::health = {sizeof(davit_health),
                                       [](const davit_host* h, int32_t value, davit_str reason) {
                                         const std::lock_guard lock(shared(h).mutex);
                                         of(h).own_->health = value;
                                         of(h).own_->health_reason = text(reason);
                                       }};
const davit_shutdown Services::shutdown = {
    sizeof(davit_shutdown), [](const davit_host* h, davit_str reason, int64_t deadline_ns) {
      const std::lock_guard lock(shared(h).mutex);
      of(h).own_->shutdown_reason = text(reason);
      of(h).own_->shutdown_deadline = std::chrono::nanoseconds(deadline_ns);
    }};
const davit_commit Services::commit_queue = {sizeof(davit_commit), 0, &Services::commit,
                                             &Services::report};

const void* query_service(const davit_host* host, davit_str id) {
  return Services::query(host, id);
}

}  // namespace davit::testing
