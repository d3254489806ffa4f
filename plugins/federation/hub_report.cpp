// Hub: answers whoever looks.
#include <algorithm>

#include "hub.hpp"

namespace davit::federation {

void Hub::report(Question question, std::function<void(const Result<Report>&)> done) {
  around_.strand.post([self = shared_from_this(), question = std::move(question),
                       done = std::move(done), ticket = around_.outstanding.begin()] {
    if (self->stopped_) return done(Error{Code::unavailable, "the process stops"});
    Report out = self->look(question);
    const bool known = question.resource.empty() || !out.resources.empty() ||
                       self->faults_.contains(question.resource);
    if (!known)
      return done(Error{Code::not_found, "\"" + question.resource + "\" does not take part"});
    done(std::move(out));
  });
}

Report Hub::look(const Question& question) const {
  Report out;
  out.robot_name = configuration_.site.robot_name;
  out.upstream = configuration_.upstream;
  out.downstream = configuration_.downstream;
  if (pairing_) {
    out.upstream_id = pairing_->upstream();
    out.downstream_id = pairing_->downstream();
  }
  out.health = health_;
  out.faults = faults_;
  if (const std::string rival = claimant_ ? claimant_->trouble() : ""; !rival.empty())
    out.faults["robot_name"] = rival;
  out.complete = begun_ && (definitions_watch_ == nullptr || definitions_.complete());
  out.ids_known = begun_ || (pairing_ && pairing_->same());
  if (pairing_) out.pairing = pairing_->trouble();
  if (begun_ && definitions_watch_ != nullptr) {
    out.definitions = definitions_.reason();
    out.definitions_final = definitions_.refused();
  }
  // Nothing is watched.
  if (pairing_ && pairing_->same()) out.definitions_final = true;
  for (const auto& [key, syncer] : syncers_) {
    if (question.resource.empty() || key.first == question.resource)
      out.resources.push_back(syncer->report(question));
  }
  return out;
}

void Hub::release(std::string resource, std::function<void(const Result<size_t>&)> done) {
  around_.strand.post([self = shared_from_this(), resource = std::move(resource),
                       done = std::move(done), ticket = around_.outstanding.begin()] {
    if (self->stopped_) return done(Error{Code::unavailable, "the process stops"});
    if (!self->running_.contains(resource))
      return done(Error{Code::not_found, "\"" + resource + "\" does not take part"});
    size_t released = 0;
    for (const auto& [key, syncer] : self->syncers_)
      if (key.first == resource) released += syncer->release();
    done(released);
  });
}

}  // namespace davit::federation
