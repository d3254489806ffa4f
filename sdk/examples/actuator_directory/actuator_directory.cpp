// An actuator whose clusters are folders with files. It shows what an actuator of a real provider
// does: it looks at what is there at each call and does what is missing, in steps between which it
// may be killed; it knows by the uid what is whose; and it gives a call up when its caller does.
#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <boost/json.hpp>
#include <davit/actuator.hpp>
#include <davit/operation.hpp>
#include <davit/outstanding.hpp>

#include "disk.hpp"
#include "wanted.hpp"

namespace acme {
namespace {

namespace actuator = davit::actuator;
namespace json = boost::json;
using actuator::Call, actuator::Done, actuator::Outcome;
using davit::Op;

Outcome failed(Error error) {
  Outcome out;
  out.error = std::move(error);
  return out;
}

std::string folder_of(const Call& call) {
  return call.ns + "_" + call.name;  // "_" is in no name of Kubernetes
}

// A call with names that the API server does not give would be one for other files.
std::optional<Error> wrong_names(const Call& call) {
  const auto is_wrong = [](const std::string& name) {
    return !is_file_name(name) || name.find('_') != std::string::npos;
  };
  if (is_wrong(call.ns)) return Error{Code::invalid_argument, "is no name", "metadata.namespace"};
  if (is_wrong(call.name) || folder_of(call).size() > 255)
    return Error{Code::invalid_argument, "is no name for a folder", "metadata.name"};
  if (is_wrong(call.uid)) return Error{Code::invalid_argument, "is no uid", "metadata.uid"};
  return std::nullopt;
}

std::string status_of(const Call& call, const Wanted& wanted) {
  return json::serialize(json::object{
      {"apiEndpoints",
       json::array{{{"host", call.name + "." + call.ns + ".example.com"}, {"port", 6443}}}},
      {"providerStatus", {{"folder", folder_of(call)}, {"files", wanted.files.size()}}}});
}

class ActuatorDirectory {
 public:
  using roles = davit::Roles<actuator::Role>;
  // A call that waits holds a thread, so this many slow clusters hold the others up.
  static constexpr uint32_t max_concurrency = 8;
  static constexpr uint32_t pool_threads_min = 2, pool_threads_max = 64;

  explicit ActuatorDirectory(davit::Host host) : host_(host) {
    const davit::Settings settings(host);
    directory_ = settings.string("directory");
    if (!settings.boolean("create", false)) return;
    if (const auto made = Disk::make(directory_); !made.ok())
      settings.reject("directory", made.error().message);
  }

  void reconcile(const Op& op, Call call, Done done) {
    serve(op, std::move(call), std::move(done), &ActuatorDirectory::build);
  }
  void remove(const Op& op, Call call, Done done) {
    serve(op, std::move(call), std::move(done), &ActuatorDirectory::clear);
  }

  Result<> stop(const Op& op) {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    woken_.notify_all();
    return open_.wait(host_, op);
  }

 private:
  using Work = Result<Outcome> (ActuatorDirectory::*)(const Op&, const Call&, const Disk&);

  void serve(const Op& op, Call call, Done done, Work work) {
    auto ticket = open_.begin();
    if (const auto why = over(op)) return done(failed(*why));
    host_.blocking("", [this, op, call = std::move(call), done = std::move(done), work, ticket] {
      done(answer(op, call, work));
    });
  }
  Outcome answer(const Op& op, const Call& call, Work work) {
    if (const auto why = over(op)) return failed(*why);
    if (const auto wrong = wrong_names(call)) return failed(*wrong);
    const auto disk = Disk::open(directory_);
    if (!disk.ok()) return failed(disk.error());
    auto out = (this->*work)(op, call, *disk);
    return out.ok() ? *out : failed(out.error());
  }

  // Why a call is given up.
  std::optional<Error> over(const Op& op) {
    if (auto why = davit::given_up(op, host_.now())) return why;
    const std::lock_guard lock(mutex_);
    if (stopped_) return davit::shutting_down();
    return std::nullopt;
  }
  // Waits as for a provider that takes long. Somebody who ends the call wakes it.
  Result<> pause(const Op& op, std::chrono::nanoseconds time) {
    const davit::OnCancel waker(op, [this] {
      const std::lock_guard lock(mutex_);
      woken_.notify_all();
    });
    const auto until = host_.now() + time;
    const auto end = std::min(until, std::chrono::nanoseconds(op.deadline_ns()));
    while (host_.now() < end) {
      std::unique_lock lock(mutex_);
      if (stopped_ || op.cancelled()) break;
      woken_.wait_for(lock, end - host_.now());
    }
    if (auto why = over(op)) return *why;
    return {};
  }

  Result<Outcome> build(const Op& op, const Call& call, const Disk& disk);
  Result<Outcome> clear(const Op& op, const Call& call, const Disk& disk);
  Result<> fill(const Op& op, const Call& call, const Disk& disk, const Wanted& wanted);

  davit::Host host_;
  std::string directory_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool stopped_ = false;
  davit::Outstanding open_;
};

// Each step finds out what is there. So it does not matter which one a crash came after.
Result<Outcome> ActuatorDirectory::build(const Op& op, const Call& call, const Disk& disk) {
  const auto wanted = wanted_of(call.cluster);
  if (!wanted.ok()) return wanted.error();
  const std::string folder = folder_of(call);
  if (auto r = disk.sweep(call.uid); !r.ok()) return r.error();
  const auto owner = disk.owner(folder);
  if (!owner.ok()) return owner.error();
  if (!*owner) {
    if (auto r = disk.claim(folder, call.uid); !r.ok()) return r.error();
    call.event({false, "FolderCreated", "the folder " + folder + " was made"});
  } else if (**owner != call.uid) {
    return Error{Code::already_exists, folder + ": is of another cluster", "metadata.name"};
  }
  if (auto r = fill(op, call, disk, *wanted); !r.ok()) return r.error();

  const auto made_at = disk.made_at_ms(folder);
  if (!made_at.ok()) return made_at.error();
  const std::chrono::milliseconds age(std::max<int64_t>(0, host_.unix_ms() - *made_at));
  Outcome out;
  if (age < wanted->boot) {
    out.requeue_after = wanted->boot - age;
    out.progress = "the cluster boots";
  } else {
    out.status_patch = status_of(call, *wanted);
  }
  return out;
}

// The files become those that are wanted, one after the other.
Result<> ActuatorDirectory::fill(const Op& op, const Call& call, const Disk& disk,
                                 const Wanted& wanted) {
  const std::string folder = folder_of(call);
  if (auto r = disk.clean(folder); !r.ok()) return r;
  const auto there = disk.files(folder);
  if (!there.ok()) return there.error();
  size_t changes = 0;
  for (const auto& [file, content] : wanted.files) {
    const auto at = there->find(file);
    if (at != there->end() && at->second == content) continue;
    if (auto r = pause(op, wanted.step); !r.ok()) return r;
    if (auto r = disk.put(folder, file, content); !r.ok()) return r;
    ++changes;
  }
  for (const auto& [file, content] : *there) {
    if (wanted.files.contains(file)) continue;
    if (auto r = disk.drop(folder, file); !r.ok()) return r;
    ++changes;
  }
  if (changes != 0)
    call.event({false, "FilesChanged", std::to_string(changes) + " files were written or removed"});
  return {};
}

// It does not ask what the cluster wanted. A folder of another uid is no part of this cluster, and
// one that does not say whose it is is an error.
Result<Outcome> ActuatorDirectory::clear(const Op&, const Call& call, const Disk& disk) {
  const std::string folder = folder_of(call);
  if (auto r = disk.sweep(call.uid); !r.ok()) return r.error();
  const auto owner = disk.owner(folder);
  if (!owner.ok()) return owner.error();
  if (*owner != call.uid) return Outcome();
  if (auto r = disk.retire(folder, call.uid); !r.ok()) return r.error();
  if (auto r = disk.sweep(call.uid); !r.ok()) return r.error();
  call.event({false, "FolderRemoved", "the folder " + folder + " was removed"});
  return Outcome();
}

}  // namespace
}  // namespace acme

DAVIT_PLUGIN(acme::ActuatorDirectory, "actuator_directory", DAVIT_PLUGIN_VERSION,
             "clusters are folders with files")
