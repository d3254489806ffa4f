// Watched: one watch of a cluster whose events come on a strand. It stands between a cluster
// instance and whoever keeps a cache. Credit is given back when the strand has taken the event, so
// credit bounds what waits. Used on the strand.
#pragma once

#include <memory>
#include <optional>

#include <davit/cluster.hpp>
#include <davit/outstanding.hpp>

namespace davit::controller {

class Watched : public std::enable_shared_from_this<Watched> {
 public:
  using Take = std::function<void(int32_t type, std::string_view object)>;

  Watched(Strand strand, Outstanding& outstanding)
      : strand_(std::move(strand)), outstanding_(outstanding) {}

  // `take` is called on the strand, for each event, until close(). A watch that the cluster does
  // not understand is one that is refused.
  void open(const cluster::Client& cluster, const cluster::WatchRequest& request, uint32_t credit,
            Take take) {
    take_ = std::move(take);
    auto ticket = outstanding_.begin();
    cluster::Watcher watcher;
    watcher.event = [self = shared_from_this(), ticket](int32_t type, std::string_view object) {
      self->strand_.post([self, ticket, type, object = std::string(object)] {
        if (!self->take_) return;
        self->take_(type, object);
        if (self->watch_) self->watch_->credit(1);
      });
    };
    watcher.ended = [ticket]() mutable { ticket.reset(); };
    auto watch = cluster.watch(request, credit, std::move(watcher));
    if (watch.ok()) {
      watch_ = *watch;
    } else {
      take_(DAVIT_WATCH_REFUSED, watch.error().message);
    }
  }
  void close() {
    take_ = nullptr;
    if (watch_) watch_->cancel();
    watch_.reset();
  }

 private:
  const Strand strand_;
  Outstanding& outstanding_;
  Take take_;
  std::optional<cluster::Watch> watch_;
};

}  // namespace davit::controller
