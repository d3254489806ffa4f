// The host as a plugin sees it: log, clock, strands and timers, the blocking pool, metrics, codec,
// credentials, state directory, health, shutdown. abi/services.h has the contract. Settings are in
// settings.hpp, and look-ups are in the header of each role.
//
// A Host is a view that is cheap to copy. It is valid until the instance is destroyed. Any thread
// may call any member, unless the member says otherwise.
#pragma once

#include <initializer_list>

#include "secret.hpp"
#include "types.hpp"

namespace davit {

// Runs tasks one at a time, in order, on the host's threads. A task must not block. Copies share
// the strand.
class Strand {
 public:
  Strand() = default;
  Strand(const davit_exec* exec, davit_strand* s)
      : exec_(exec), strand_(s) {}  // takes the reference over
  Strand(const Strand& o) : exec_(o.exec_), strand_(o.strand_) {
    if (strand_ != nullptr) exec_->strand_retain(strand_);
  }
  Strand(Strand&& o) noexcept : exec_(o.exec_), strand_(std::exchange(o.strand_, nullptr)) {}
  Strand& operator=(Strand o) noexcept {
    std::swap(exec_, o.exec_);
    std::swap(strand_, o.strand_);
    return *this;
  }
  ~Strand() {
    if (strand_ != nullptr) exec_->strand_release(strand_);
  }

  void post(std::function<void()> task) const {
    exec_->post(strand_, &run_once, new std::function<void()>(std::move(task)));
  }
  davit_strand* get() const { return strand_; }
  const davit_exec* exec() const { return exec_; }

  // Runs and deletes a std::function<void()>. A task that throws is a bug and ends the process.
  static void run_once(void* arg) noexcept {
    must_not_throw("a task", [&] {
      std::unique_ptr<std::function<void()>> task(static_cast<std::function<void()>*>(arg));
      (*task)();
    });
  }

 private:
  const davit_exec* exec_ = nullptr;
  davit_strand* strand_ = nullptr;
};

// One timer on a strand, used on that strand only. `after` replaces the task that waits. The
// destructor cancels that task. A cancelled task does not run.
class Timer {
 public:
  explicit Timer(Strand strand) : strand_(std::move(strand)) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { cancel(); }

  void after(std::chrono::nanoseconds delay, std::function<void()> task) {
    cancel();
    waiting_ = std::make_shared<std::function<void()>>(std::move(task));
    id_ = strand_.exec()->timer(strand_.get(), delay.count(), &fire,
                                new std::weak_ptr<std::function<void()>>(waiting_));
  }
  void cancel() {
    if (!waiting_) return;
    waiting_.reset();
    strand_.exec()->timer_cancel(strand_.get(), id_);
  }
  bool waiting() const { return waiting_ != nullptr && *waiting_ != nullptr; }

 private:
  static void fire(void* arg, int32_t fired) noexcept {
    std::unique_ptr<std::weak_ptr<std::function<void()>>> weak(
        static_cast<std::weak_ptr<std::function<void()>>*>(arg));
    if (fired == 0) return;
    if (auto task = weak->lock(); task && *task) {
      auto run = std::move(*task);
      *task = nullptr;
      must_not_throw("a timer's task", run);
    }
  }
  Strand strand_;
  std::shared_ptr<std::function<void()>> waiting_;
  uint64_t id_ = 0;
};

// A counter, gauge or histogram. Copies are the same metric. A Metric that was made without a
// handle does nothing.
class Metric {
 public:
  Metric() = default;
  Metric(const davit_metrics* m, davit_metric* h) : metrics_(m), handle_(h) {}
  void add(double by = 1) const {
    if (handle_ != nullptr) metrics_->add(handle_, by);
  }
  void set(double to) const {
    if (handle_ != nullptr) metrics_->set(handle_, to);
  }
  void observe(std::chrono::duration<double> d) const {
    if (handle_ != nullptr) metrics_->observe(handle_, d.count());
  }

 private:
  const davit_metrics* metrics_ = nullptr;
  davit_metric* handle_ = nullptr;
};

// Converts the messages of one descriptor set between protobuf bytes and JSON.
class Schema {
 public:
  Schema() = default;
  Schema(const davit_codec* c, const davit_schema* s) : codec_(c), schema_(s) {}
  Result<std::string> to_json(std::string_view type, std::string_view message) const {
    StringSink out;
    auto r = checked(
        [&](davit_error* e) {
          return codec_->to_json(schema_, str(type), bytes(message), out.get(), e);
        },
        out);
    if (!r.ok()) return r.error();
    return out.take();
  }
  Result<std::string> from_json(std::string_view type, std::string_view json) const {
    StringSink out;
    auto r = checked(
        [&](davit_error* e) {
          return codec_->from_json(schema_, str(type), str(json), out.get(), e);
        },
        out);
    if (!r.ok()) return r.error();
    return out.take();
  }
  bool equal(std::string_view type, std::string_view a, std::string_view b) const {
    return codec_->equal(schema_, str(type), bytes(a), bytes(b)) != 0;
  }

 private:
  const davit_codec* codec_ = nullptr;
  const davit_schema* schema_ = nullptr;
};

class Host {
 public:
  explicit Host(const davit_host* abi)
      : abi_(abi),
        log_(service<davit_log>(DAVIT_LOG)),
        exec_(service<davit_exec>(DAVIT_EXEC)),
        clock_(service<davit_clock>(DAVIT_CLOCK)) {}

  const davit_host* abi() const { return abi_; }
  std::string_view instance() const { return view(abi_->instance); }
  // NULL when this host does not offer the service.
  template <class T>
  const T* service(std::string_view id) const {
    return static_cast<const T*>(abi_->query(abi_, str(id)));
  }

  // --- log: a short constant message, then fields ---
  using Fields = std::initializer_list<std::pair<std::string_view, std::string>>;
  void debug(std::string_view message, Fields fields = {}) const {
    log(DAVIT_LOG_DEBUG, message, fields);
  }
  void info(std::string_view message, Fields fields = {}) const {
    log(DAVIT_LOG_INFO, message, fields);
  }
  void warn(std::string_view message, Fields fields = {}) const {
    log(DAVIT_LOG_WARN, message, fields);
  }
  void error(std::string_view message, Fields fields = {}) const {
    log(DAVIT_LOG_ERROR, message, fields);
  }

  // --- clock and randomness ---
  int64_t unix_ms() const { return clock_->unix_ns(abi_) / 1'000'000; }
  std::chrono::nanoseconds now() const {
    return std::chrono::nanoseconds(clock_->monotonic_ns(abi_));
  }
  uint64_t random() const { return clock_->random(abi_); }

  // --- threads ---
  Strand strand() const { return {exec_, exec_->strand(abi_)}; }
  // Runs the task on the pool of the named instance (empty: this one), where it may block.
  void blocking(std::string_view instance, std::function<void()> task) const {
    exec_->blocking(abi_, str(instance), &Strand::run_once,
                    new std::function<void()>(std::move(task)));
  }

  // --- metrics ---
  Metric counter(std::string_view name, std::string_view help, const Pairs& labels = {}) const {
    return metric(DAVIT_COUNTER, name, help, labels);
  }
  Metric gauge(std::string_view name, std::string_view help, const Pairs& labels = {}) const {
    return metric(DAVIT_GAUGE, name, help, labels);
  }
  Metric histogram(std::string_view name, std::string_view help, const Pairs& labels = {}) const {
    return metric(DAVIT_HISTOGRAM, name, help, labels);
  }

  // --- codec, credentials, state, health ---
  Result<Schema> schema(davit_bytes descriptor_set,
                        const std::vector<std::string>& json_fields) const {
    const auto* codec = service<davit_codec>(DAVIT_CODEC);
    std::vector<davit_str> fields;
    for (const auto& f : json_fields) fields.push_back(str(f));
    const davit_schema* out = nullptr;
    auto r = checked([&](davit_error* e) {
      return codec->load(abi_, descriptor_set, fields.data(), fields.size(), &out, e);
    });
    if (!r.ok()) return r.error();
    return Schema(codec, out);
  }
  // The file's content without the line ends (\n, \r) at its end. Blocks on the disk.
  Result<Secret> credential(std::string_view path) const {
    const auto* credentials = service<davit_credentials>(DAVIT_CREDENTIALS);
    Secret out;
    Visitor use([&out](davit_bytes b) {
      auto v = davit::view(b);
      while (!v.empty() && (v.back() == '\n' || v.back() == '\r')) v.remove_suffix(1);
      out = Secret(v);
    });
    auto r = checked(
        [&](davit_error* e) {
          return credentials->read(abi_, str(path), DAVIT_CREDENTIAL_SENSITIVE, &use, use, e);
        },
        use);
    if (!r.ok()) return r.error();
    return out;
  }
  Result<std::string> state_directory(bool create) const {
    StringSink out;
    auto r = checked(
        [&](davit_error* e) {
          return service<davit_state>(DAVIT_STATE)->directory(abi_, create ? 1 : 0, out.get(), e);
        },
        out);
    if (!r.ok()) return r.error();
    return out.take();
  }
  void health(int32_t state, std::string_view reason = {}) const {
    service<davit_health>(DAVIT_HEALTH)->set(abi_, state, str(reason));
  }
  // Ends the process, at the latest at `deadline`, a time of now(). Returns at once. abi/services.h
  // says how.
  void shutdown(std::string_view reason, std::chrono::nanoseconds deadline) const {
    service<davit_shutdown>(DAVIT_SHUTDOWN)->request(abi_, str(reason), deadline.count());
  }

 private:
  void log(int32_t level, std::string_view message, Fields fields) const {
    if (log_->enabled(abi_, level) == 0) return;
    std::vector<davit_pair> pairs;
    pairs.reserve(fields.size());
    for (const auto& [key, value] : fields) pairs.push_back({str(key), str(value)});
    log_->write(abi_, level, str(message), pairs.data(), pairs.size());
  }
  Metric metric(int32_t type, std::string_view name, std::string_view help,
                const Pairs& labels) const {
    const auto* metrics = service<davit_metrics>(DAVIT_METRICS);
    auto abi = to_abi(labels);
    return {metrics, metrics->metric(abi_, type, str(name), str(help), abi.data(), abi.size())};
  }

  const davit_host* abi_;
  const davit_log* log_;
  const davit_exec* exec_;
  const davit_clock* clock_;
};

}  // namespace davit
