#include "children.hpp"

#include <boost/json.hpp>

#include "kubernetes/json.hpp"
#include "kubernetes/objects.hpp"

namespace davit::clusters {
namespace {

namespace json = boost::json;

constexpr const char* page = "500";

bool owned(const json::object& child, std::string_view uid) {
  const auto* meta = kubernetes::object_in(child, "metadata");
  const auto* owners = kubernetes::array_in(meta, "ownerReferences");
  if (owners == nullptr) return false;
  for (const json::value& owner : *owners) {
    if (owner.is_object() && kubernetes::text_in(owner.get_object(), "uid") == uid) return true;
  }
  return false;
}

}  // namespace

Children::Children(Ask ask, const json::object& cluster) : ask_(std::move(ask)) {
  const auto* meta = kubernetes::object_in(cluster, "metadata");
  ns_ = kubernetes::text_in(meta, "namespace");
  name_ = kubernetes::text_in(meta, "name");
  uid_ = kubernetes::text_in(meta, "uid");
}

void Children::remove(Done done) {
  done_ = std::move(done);
  list(0, "");
}

void Children::list(size_t at, std::string next) {
  if (at == std::size(children_resources)) return remove_next();
  cluster::Request q;
  q.verb = DAVIT_VERB_GET;
  q.resource = children_resources[at];
  q.ns = ns_;
  q.query = {{"labelSelector", "cluster.k8s.io/cluster-name=" + name_}, {"limit", page}};
  if (!next.empty()) q.query.emplace_back("continue", std::move(next));
  ask_(std::move(q),
       [self = shared_from_this(), at](const cluster::Response& r) { self->listed(at, r); });
}

void Children::listed(size_t at, const cluster::Response& r) {
  if (r.code == Code::not_found) return list(at + 1, "");
  boost::system::error_code bad;
  const json::value body = json::parse(r.code == Code::ok ? r.body : "null", bad);
  const auto* items = bad ? nullptr : kubernetes::array_at(body, "/items");
  if (items == nullptr) {
    return done_(Error{r.code == Code::ok ? Code::internal : r.code,
                       children_resources[at].resource + " cannot be listed: " + r.message,
                       {},
                       r.retry_after});
  }
  for (const json::value& item : *items) {
    if (!item.is_object() || !owned(item.get_object(), uid_)) continue;
    ++left_;
    if (kubernetes::is_terminating(item)) continue;
    cluster::Request q;
    q.verb = DAVIT_VERB_DELETE;
    q.resource = children_resources[at];
    q.ns = ns_;
    q.name = kubernetes::text_at(item, "/metadata/name");
    q.body = json::serialize(
        json::object{{"apiVersion", "v1"},
                     {"kind", "DeleteOptions"},
                     {"propagationPolicy", "Foreground"},
                     {"preconditions", {{"uid", kubernetes::text_at(item, "/metadata/uid")}}}});
    deletes_.push_back(std::move(q));
  }
  std::string next(kubernetes::text_at(body, "/metadata/continue"));
  return next.empty() ? list(at + 1, "") : list(at, std::move(next));
}

// One after the other, in the order in which they were found. What has gone meanwhile is deleted.
void Children::remove_next() {
  if (deletes_.empty()) {
    if (failed_.empty()) return done_(left_);
    return done_(Error{Code::unavailable, failed_});
  }
  cluster::Request q = std::move(deletes_.front());
  deletes_.pop_front();
  const std::string what = q.resource.resource + " \"" + q.name + "\"";
  ask_(std::move(q), [self = shared_from_this(), what](const cluster::Response& r) {
    const bool gone = r.code == Code::ok || r.code == Code::not_found || r.code == Code::aborted;
    if (!gone && self->failed_.empty()) self->failed_ = what + " cannot be deleted: " + r.message;
    self->remove_next();
  });
}

}  // namespace davit::clusters
