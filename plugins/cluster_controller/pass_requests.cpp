// Pass: what it asks of the API server.
#include <boost/json.hpp>

#include "kubernetes/answer.hpp"
#include "kubernetes/json.hpp"
#include "kubernetes/merge_patch.hpp"
#include "pass.hpp"

namespace davit::clusters {
namespace {

std::string version_of(const json::object& cluster) {
  return std::string(
      kubernetes::text_in(kubernetes::object_in(cluster, "metadata"), "resourceVersion"));
}

}  // namespace

cluster::Request Pass::request(const char* verb) const {
  cluster::Request q;
  q.verb = verb;
  q.resource = clusters_resource;
  q.ns = about_.ns;
  q.name = about_.name;
  if (q.verb == DAVIT_VERB_MERGE) q.query = {{"fieldManager", "davit-clusters"}};
  return q;
}

void Pass::ask(cluster::Request request, Answered done) {
  request.deadline_ns = (around_.host.now() + around_.configuration.limits.request_timeout).count();
  around_.cluster.request(request, [self = shared_from_this(), ticket = around_.outstanding.begin(),
                                    done = std::move(done)](cluster::Response r) {
    self->around_.strand.post([self, ticket, done, r = std::move(r)] {
      if (!self->closed_) done(r);
    });
  });
}

void Pass::write_status(Then then, size_t tries_left) {
  const json::object wanted = status_of(cluster_, found_, around_.host.unix_ms());
  const json::object patch = kubernetes::merge_patch_between(stored_, wanted);
  if (patch.empty()) return then();
  around_.writes(key_, wanted);
  cluster::Request q = request(DAVIT_VERB_MERGE);
  q.subresource = "status";
  q.body = json::serialize(
      json::object{{"metadata", {{"resourceVersion", version_of(cluster_)}}}, {"status", patch}});
  ask(std::move(q), [this, then = std::move(then), tries_left](const cluster::Response& r) {
    status_written(r, then, tries_left);
  });
}

void Pass::status_written(const cluster::Response& r, Then then, size_t tries_left) {
  constexpr int too_large = 413;
  switch (r.http_status == too_large ? Code::invalid_argument : r.code) {
    case Code::ok: {
      around_.wrote(key_, r.body);
      patches_.clear();  // they are stored
      take(r.body);
      return then();
    }
    case Code::not_found:
      return end(End::How::done);  // it has gone
    case Code::aborted:
      if (tries_left == 0) return fail(r, "the status cannot be written");
      return read_again([this, then, tries_left] { write_status(then, tries_left - 1); });
    case Code::invalid_argument:
      if (patches_.empty()) return fail(r, "the status is refused");
      // What the actuators say is at fault: the controller's own part is written without it.
      patches_.clear();
      cluster_["status"] = stored_;
      return refuse({Code::invalid_argument,
                     "the API server refuses what the actuator says of the "
                     "status: " +
                         r.message});
    default:
      return fail(r, "the status cannot be written");
  }
}

void Pass::read_again(Then then) {
  ask(request(DAVIT_VERB_GET), [this, then = std::move(then)](const cluster::Response& r) {
    if (r.code == Code::not_found) return end(End::How::done);
    if (r.code != Code::ok) return fail(r, "the Cluster cannot be read");
    const json::object found = kubernetes::object_of(r.body);
    const auto* meta = kubernetes::object_in(found, "metadata");
    if (kubernetes::text_in(meta, "uid") != about_.uid) return end(End::How::done);
    around_.read(key_, r.body);
    take(r.body);
    then();
  });
}

// Refused when the Cluster is another by now.
void Pass::write_finalizers(json::array finalizers, Answered done) {
  cluster::Request q = request(DAVIT_VERB_MERGE);
  q.body = json::serialize(json::object{
      {"metadata",
       {{"finalizers", std::move(finalizers)}, {"resourceVersion", version_of(cluster_)}}}});
  ask(std::move(q), [this, done = std::move(done)](const cluster::Response& r) {
    if (r.code == Code::ok) around_.wrote(key_, r.body);
    done(r);
  });
}

void Pass::drop_finalizer(size_t tries_left) {
  write_finalizers(without_finalizer(cluster_), [this, tries_left](const cluster::Response& r) {
    if (r.code == Code::ok || r.code == Code::not_found) return end(End::How::done);
    if (r.code != Code::aborted || tries_left == 0)
      return fail(r, "the finalizer cannot be taken off");
    read_again([this, tries_left] { drop_finalizer(tries_left - 1); });
  });
}

void Pass::fail(const cluster::Response& r, const std::string& what) {
  found_.message = what + ": " + kubernetes::answer_text(r);
  around_.host.warn("a Cluster is tried again", {{"cluster", key_}, {"reason", found_.message}});
  end(End::How::failed, r.retry_after);
}

}  // namespace davit::clusters
