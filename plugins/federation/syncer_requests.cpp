// Syncer: sends what was decided for an object, and takes the answer in.
#include "kubernetes/answer.hpp"
#include "objects.hpp"
#include "syncer.hpp"

namespace davit::federation {
namespace {

using namespace std::chrono_literals;

// After a create, its watch shows the object within this time, or the object has gone again.
constexpr auto created_shown_within = 5s;
// Who has not changed it for so long has stopped.
constexpr auto fight_over_after = 5min;

std::string verb_of(Does does) {
  switch (does) {
    case Does::create:
      return DAVIT_VERB_CREATE;
    case Does::remove:
      return DAVIT_VERB_DELETE;
    default:
      return DAVIT_VERB_UPDATE;
  }
}

json::value labels_of(std::string_view text) {
  const json::value object = parse_object(text);
  const json::object* labels = kubernetes::object_at(object, "/metadata/labels");
  return labels == nullptr ? json::object() : *labels;
}

}  // namespace

cluster::Request Syncer::request_of(const Look& look) const {
  const auto [ns, name] = controller::split_key(look.key);
  cluster::Request q;
  q.verb = verb_of(look.action.does);
  q.resource = rules_.resource;
  q.ns = ns;
  if (look.action.does != Does::create) q.name = name;
  if (look.action.does == Does::status && rules_.status == StatusWrite::subresource) {
    q.subresource = "status";
    q.headers = {{"Accept", std::string(answer_metadata)}};
  }
  if (look.action.does == Does::remove) {
    q.body = json::serialize(json::object{
        {"apiVersion", "v1"},
        {"kind", "DeleteOptions"},
        {"preconditions",
         {{"uid", look.action.uid}, {"resourceVersion", look.action.resource_version}}}});
  } else {
    q.query = {{"fieldManager", "davit-federation"}};
    q.body = json::serialize(look.action.object);
  }
  return q;
}

void Syncer::call(Side side, const cluster::Request& request,
                  std::function<void(cluster::Response)> done) {
  cluster::Request q = request;
  q.deadline_ns = (now() + around_.limits.request_timeout).count();
  const std::string like = q.verb + (side == upstream ? " upstream" : " downstream");
  ends_[side]
      .client.under(operation_)
      .request(q, [self = shared_from_this(), ticket = around_.outstanding.begin(),
                   done = std::move(done), like, sent = now()](cluster::Response r) {
        self->around_.strand.post([self, ticket, done, like, sent, r = std::move(r)] {
          if (self->closed_) return;
          self->queue_.answered(like, r, sent, self->now());
          done(r);
        });
      });
}

void Syncer::send(Look look) {
  requests_[look.action.does].add();
  const auto request = request_of(look);
  const Side side = side_of(look.action);
  call(side, request,
       [this, look = std::move(look)](const cluster::Response& r) { answered(look, r); });
}

void Syncer::answered(Look look, const cluster::Response& r) {
  const Does does = look.action.does;
  const bool forbidden = r.code == Code::permission_denied || r.code == Code::unauthenticated;
  if (!forbidden && denied_.erase(does) > 0) queue_.hurry(now());
  switch (r.code) {
    case Code::ok:
      return done(std::move(look), r);
    case Code::not_found:
      // The object has gone, which its watch tells; or there is no such namespace.
      if (does == Does::remove) return done(std::move(look), r);
      if (does == Does::create) return refused(std::move(look), r);
      memory_[look.key].hidden.reset();  // of this one no watch tells
      // What upstream shows and has no status: its definition has no such subresource.
      if (does == Does::status && queue_.failures(look.key) > 1)
        return failing(look, kubernetes::answer_text(r) + " (is there a status subresource?)",
                       r.retry_after);
      return fail(look);
    case Code::already_exists:
    case Code::aborted:
      return read(std::move(look));
    case Code::invalid_argument:
      return refused(std::move(look), r);
    default:
      break;
  }
  if (forbidden) {
    auto& [backoff, until] =
        denied_.try_emplace(does, Backoff(around_.limits.queue.retry), Time(0)).first->second;
    until = now() + backoff.next(around_.host.random(), r.retry_after);
  }
  failing(look, kubernetes::answer_text(r), r.retry_after);
}

void Syncer::failing(const Look& look, const std::string& why,
                     std::chrono::milliseconds retry_after) {
  say_failing(look.action.does, why);
  note(memory_[look.key], look.action.standing, look.action.does, why);
  fail(look, retry_after);
}

void Syncer::done(Look look, const cluster::Response& r) {
  Memory& memory = memory_[look.key];
  const Action& action = look.action;
  say_working(action.does);
  if (action.does == Does::remove) {
    memory.written.removed = action.uid;
    memory.hidden.reset();  // of this one no watch tells
    return step(std::move(look));
  }
  if (action.does == Does::status) {
    accepted(memory, upstream, memory.written.status_wanted, action.hash);
    const auto cached = ends_[upstream].cache.find(look.key);
    ends_[upstream].cache.put(after_status(r.body, cached.get(), action.object));
    return step(std::move(look));
  }
  const json::value body = parse_object(r.body);
  json::object made = body.get_object();
  without_managers(made);
  accepted(memory, downstream, memory.written.wanted, action.hash);
  memory.written.became = hash_of(content_of(rules_, made));
  memory.written.refused = 0;
  if (action.does == Does::create) {
    if (!ends_[downstream].cache.find(look.key)) memory.written.created = uid_of(made);
    memory.created_until = now() + created_shown_within;
  } else if (std::exchange(memory.hidden, nullptr) != nullptr) {
    // Now the selector selects it, so the watch will show it.
    memory.written.created = uid_of(made);
    memory.created_until = now() + created_shown_within;
  } else {
    ends_[downstream].cache.put(r.body);
  }
  step(std::move(look));
}

void Syncer::accepted(Memory& memory, Side side, size_t& before, size_t hash) {
  const bool repair = std::exchange(before, hash) == hash;
  if (!repair) return;
  Repairs& repairs = memory.repairs[side];
  if (repairs.until == Time(0) || now() > repairs.until + fight_over_after)
    repairs.backoff = Backoff(around_.limits.queue.retry);
  repairs.until = now() + repairs.backoff.next(around_.host.random());
}

void Syncer::read(Look look) {
  cluster::Request q;
  q.verb = DAVIT_VERB_GET;
  q.resource = rules_.resource;
  std::tie(q.ns, q.name) = controller::split_key(look.key);
  const Side side = side_of(look.action);
  call(side, q, [this, look = std::move(look)](const cluster::Response& r) { was_read(look, r); });
}

void Syncer::was_read(const Look& look, const cluster::Response& r) {
  Memory& memory = memory_[look.key];
  const bool hidden = look.action.does == Does::create || memory.hidden != nullptr;
  memory.hidden.reset();
  if (r.code == Code::ok) {
    auto& cache = ends_[side_of(look.action)].cache;
    // Its watch tells whether one with other labels is still selected.
    const auto known = cache.find(look.key);
    if (known && (rules_.selector.empty() || labels_of(*known) == labels_of(r.body)))
      cache.put(r.body);
    if (hidden && side_of(look.action) == downstream) {
      json::object found = parse_object(r.body).get_object();
      without_managers(found);
      memory.hidden = std::make_shared<const json::object>(std::move(found));
    }
  }
  if (around_.rehearses) return step(look);
  fail(look);
}

void Syncer::refused(Look look, const cluster::Response& r) {
  if (look.action.does == Does::remove) {
    say_failing(look.action.does, kubernetes::answer_text(r));
    note(memory_[look.key], Standing::stuck, look.action.does, kubernetes::answer_text(r));
    return fail(look, r.retry_after);
  }
  Written& written = memory_[look.key].written;
  const bool status = look.action.does == Does::status;
  (status ? written.status_refused : written.refused) = look.action.hash;
  written.refusal = std::string(name_of(look.action.does)) +
                    (status ? " upstream" : " downstream") +
                    " is refused: " + kubernetes::answer_text(r);
  look.stuck = true;
  step(std::move(look));  // something else may be left to do
}

}  // namespace davit::federation
