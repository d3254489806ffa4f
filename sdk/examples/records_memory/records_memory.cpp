// A provider of records in memory. Calls are answered on the instance's pool, watches on strands of
// their own.
#include <atomic>
#include <random>

#include "watch.hpp"

namespace records_memory {
namespace {

using davit::Op;

class RecordsMemory {
 public:
  using roles = davit::Roles<records::Role>;
  static constexpr uint32_t max_concurrency = 2;
  explicit RecordsMemory(davit::Host host) : host_(host), store_(new_incarnation()) {}

  void apply(const Op& op, records::Apply request, records::ApplyDone done) {
    later(op, [this, request = std::move(request), done = std::move(done)](const Over& over) {
      records::AppliedList results;
      if (over) {
        for (const auto& d : request.documents) results.push_back({d.key, {}, {}, *over});
      } else {
        results = store_.apply(request);
      }
      for (const auto& watch : watches()) watch->changed();
      done(std::move(results));
    });
  }
  void get(const Op& op, davit::Query query, records::Done done) {
    later(op, [this, query = std::move(query), done = std::move(done)](const Over& over) {
      if (over) return done(*over);
      done(store_.get(query));
    });
  }
  void list(const Op& op, records::Read read, records::Done done) {
    later(op, [this, read = std::move(read), done = std::move(done)](const Over& over) {
      if (over) return done(*over);
      done(store_.list(read));
    });
  }

  Result<records::WatchHandle*> watch(records::Read read, uint32_t credit,
                                      records::Watcher watcher) {
    const auto made = std::make_shared<Watch>(host_, store_, std::move(read), std::move(watcher),
                                              watching_.begin());
    {
      const std::lock_guard lock(mutex_);
      watches_.emplace(made.get(), made);
    }
    stopped_ ? made->end(stops()) : made->credit(credit);
    return made.get();
  }
  void credit(records::WatchHandle* handle, uint32_t more) { find(handle)->credit(more); }
  // The holder's last call with this handle.
  void cancel(records::WatchHandle* handle) {
    const auto watch = find(handle);
    {
      const std::lock_guard lock(mutex_);
      watches_.erase(handle);
    }
    watch->end(std::nullopt);
  }

  // Calls that are open are answered, and watches end with a reason.
  Result<> stop(const Op& op) {
    stopped_ = true;
    for (const auto& watch : watches()) watch->end(stops());
    if (auto r = watching_.wait(host_, op); !r.ok()) return r;
    return calls_.wait(host_, op);
  }

 private:
  static davit::Incarnation new_incarnation() {
    std::random_device device;
    return davit::Incarnation(uint64_t{device()} << 32 | device() | 1);
  }
  static davit::Error stops() { return {davit::Code::unavailable, "the instance stops"}; }
  // Why a call is over before it has begun; nothing: it is not.
  using Over = std::optional<davit::Error>;
  Over given_up(const Op& op) const {
    if (op.cancelled()) return davit::Error{davit::Code::cancelled, "the caller has given up"};
    if (op.deadline_ns() < host_.now().count())
      return davit::Error{davit::Code::deadline_exceeded, "the deadline has passed"};
    return std::nullopt;
  }
  // A call that comes after the stop is refused; one that came before it is carried out.
  void later(const Op& op, std::function<void(const Over&)> task) {
    host_.blocking("", [this, op, task = std::move(task), late = stopped_.load(),
                        ticket = calls_.begin()] { task(late ? stops() : given_up(op)); });
  }
  std::shared_ptr<Watch> find(records::WatchHandle* handle) {
    const std::lock_guard lock(mutex_);
    return watches_.at(handle);
  }
  std::vector<std::shared_ptr<Watch>> watches() {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Watch>> out;
    for (const auto& [handle, watch] : watches_) out.push_back(watch);
    return out;
  }

  const davit::Host host_;
  Store store_;
  std::mutex mutex_;
  std::map<records::WatchHandle*, std::shared_ptr<Watch>> watches_;
  std::atomic<bool> stopped_{false};
  davit::Outstanding calls_, watching_;
};

}  // namespace
}  // namespace records_memory

DAVIT_PLUGIN(records_memory::RecordsMemory, "records_memory", DAVIT_PLUGIN_VERSION,
             "keeps records in memory")
