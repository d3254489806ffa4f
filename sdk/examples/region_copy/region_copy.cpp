// A controller: keeps the records of one kind of one region equal in another region. It watches
// both through the role records, and writes through it: so what it writes is validated as what an
// operator applies. It keeps nothing of its own. What has to be done follows from the two regions,
// so a restart, a repetition or a lost answer does no harm.
#include <davit/backoff.hpp>
#include <davit/operation.hpp>
#include <davit/outstanding.hpp>

#include "picture.hpp"

namespace region_copy {

using davit::Error;
using davit::Op;
using davit::Result;
namespace records = davit::records;

class RegionCopy {
 public:
  using roles = davit::Roles<>;

  explicit RegionCopy(davit::Host host)
      : host_(host),
        strand_(host.strand()),
        restart_(strand_),
        retry_(strand_),
        picture_("", "", ""),
        copied_(host.counter("davit_region_copy_changes_total", "records copied or deleted")) {
    const davit::Settings settings(host);
    kind_ = settings.string("kind");
    const std::string from = settings.string("from"), to = settings.string("to");
    provider_ = settings.optional_string("records");
    if (from == to) settings.reject("to", "is the region to copy from");
    regions_ = {from, to};
    picture_ = Picture(kind_, from, to);
  }

  Result<> wire() {
    auto found = records::Client::find(host_, provider_, "records");
    if (!found.ok()) return found.error();
    records_ = *found;
    return {};
  }
  Result<> start(const Op&) {
    strand_.post([this, ticket = open_.begin()] { begin(); });
    host_.health(DAVIT_HEALTH_SERVING);
    return {};
  }
  Result<> stop(const Op& op) {
    call_.cancel();
    strand_.post([this, ticket = open_.begin()] {
      restart_.cancel();
      retry_.cancel();
      cancel();
    });
    return open_.wait(host_, op);
  }

 private:
  // How many events a watch may send before we have looked at them.
  static constexpr uint32_t window = 100;

  // One watch. Its callbacks come on any thread, and post what they say to our strand.
  struct Side {
    records::Watch watch;
    bool cancelled = false;
    bool synced = false;
  };

  // --- on the strand ---
  void begin() {
    if (call_.cancelled() || !sides_.empty()) return;
    picture_.forget();
    for (const std::string& region : regions_) {
      auto side = std::make_shared<Side>();
      const auto ticket = open_.begin();  // until the watch has ended
      auto begun =
          records_.watch({kind_, region}, window,
                         {[this, side](const records::Event& e) {
                            strand_.post([this, side, e, t = open_.begin()] { heard(*side, e); });
                          },
                          [this, side, ticket](const std::optional<Error>& why) {
                            strand_.post([this, side, why, ticket] { ended(side, why); });
                          }});
      if (!begun.ok()) return pause(begun.error());
      side->watch = *begun;
      sides_.push_back(side);
    }
  }
  void heard(Side& side, const records::Event& e) {
    if (side.cancelled) return;
    side.watch.credit(1);
    if (e.record) picture_.record(*e.record);
    if (e.type == DAVIT_RECORDS_EVENT_SYNCED) side.synced = true;
    act();
  }
  // The instance stops, or our position is not known any more. Both watches begin anew.
  void ended(const std::shared_ptr<Side>& side, const std::optional<Error>& why) {
    if (!side->cancelled && why) pause(*why);
  }
  void cancel() {
    for (const auto& side : sides_) {
      side->cancelled = true;
      side->watch.cancel();
    }
    sides_.clear();
  }
  void pause(const Error& why) {
    cancel();
    if (call_.cancelled()) return;
    const auto delay = backoff_.next(host_.random(), why.retry_after);
    host_.warn("a watch has ended", {{"why", why.message}});
    restart_.after(delay, [this] { begin(); });
  }
  bool synced() const { return sides_.size() == 2 && sides_[0]->synced && sides_[1]->synced; }

  // One change at a time: the next one is decided by what came of the last.
  void act() {
    if (busy_ || waiting_ || call_.cancelled() || !synced()) return;
    std::string foreign;
    auto document = picture_.next(foreign);
    if (!foreign.empty()) host_.warn("a record that is not a copy has the id", {{"id", foreign}});
    if (!document) return;
    busy_ = true;
    records_.apply(
        {{*document}},
        [this, ticket = open_.begin()](const records::AppliedList& results) {
          strand_.post([this, result = results.at(0), ticket] { applied(result); });
        },
        call_);
  }
  void applied(const records::Applied& result) {
    busy_ = false;
    if (!result.error) {
      backoff_.reset();
      copied_.add();
    } else if (result.error->code == davit::Code::aborted) {
      // Somebody else was faster. The watch tells what is there now, and that is judged.
    } else if (davit::retryable(result.error->code)) {
      return retry(result);
    } else {  // judged again when one of the two records changes
      host_.warn(
          "a record cannot be copied",
          {{"id", result.key.id}, {"field", result.error->where}, {"why", result.error->message}});
    }
    act();
  }
  void retry(const records::Applied& result) {
    picture_.again(result.key.id);
    if (call_.cancelled()) return;
    waiting_ = true;
    retry_.after(backoff_.next(host_.random(), result.error->retry_after), [this] {
      waiting_ = false;
      act();
    });
  }

  davit::Host host_;
  davit::Strand strand_;
  davit::Timer restart_, retry_;
  std::string kind_;
  std::vector<std::string> regions_;
  std::optional<std::string> provider_;
  records::Client records_;
  Picture picture_;
  davit::Metric copied_;
  davit::Backoff backoff_;
  std::vector<std::shared_ptr<Side>> sides_;
  bool busy_ = false;      // an apply is not answered yet
  bool waiting_ = false;   // until an apply may be tried again
  davit::Operation call_;  // what our calls are made in: no deadline, and over when we stop
  davit::Outstanding open_;
};

}  // namespace region_copy

DAVIT_PLUGIN(region_copy::RegionCopy, "region_copy", DAVIT_PLUGIN_VERSION,
             "keeps the records of one kind of a region equal in another")
