// The part of Engine that sends requests.
#include <davit/ascii.hpp>

#include "address.hpp"
#include "engine.hpp"
#include "kubernetes/json_scan.hpp"
#include "kubernetes/namespaces.hpp"

namespace davit::cluster_kubernetes {
namespace {

using std::chrono::nanoseconds;

cluster::Response failure(Code code, std::string message) {
  cluster::Response r;
  r.code = code;
  r.message = std::move(message);
  return r;
}

// As the API server refuses what an account may not do.
cluster::Response refusal(const Error& why) {
  cluster::Response r = failure(why.code, why.message);
  r.http_status = 403;
  r.reason = "Forbidden";
  r.body = Restriction::status(r.http_status, why.message);
  return r;
}

bool clean(std::string_view header) {
  return header.find_first_of("\r\n") == std::string_view::npos;
}

}  // namespace

void Engine::send(Transport::Spec spec, std::function<void(Outcome)> done) {
  requests_.add(next_request_.fetch_add(1), std::move(spec), nanoseconds::max(), host_.now(),
                std::move(done));
}

// The op lives until `done` is called, so the registration ends before.
void Engine::submit(Transport::Spec spec, const Op& op, std::function<void(Outcome)> done) {
  if (accepted_.fetch_add(1) >= options_.requests_max) {
    accepted_.fetch_sub(1);
    return done(not_sent(Outcome::Transport::too_large,  // RESOURCE_EXHAUSTED
                         "too many requests are waiting (requests_max)"));
  }
  struct Submitted {
    std::function<void(Outcome)> done;
    std::optional<OnCancel> given_up;
  };
  const auto call = std::make_shared<Submitted>(Submitted{std::move(done), std::nullopt});
  const auto answer = [this, call](Outcome o) {
    accepted_.fetch_sub(1);
    call->given_up.reset();
    call->done(std::move(o));
  };
  const uint64_t key = next_request_.fetch_add(1);
  call->given_up.emplace(op, [this, key] { post([this, key] { requests_.cancel(key); }); });
  const auto owned = std::make_shared<Transport::Spec>(std::move(spec));
  const bool taken = post([this, key, op, owned, answer] {
    // A cancellation before this one looked for the request in vain.
    if (op.cancelled()) return answer(not_sent(Outcome::Transport::cancelled, Requests::given_up));
    const auto begun = host_.now();
    const auto deadline =
        op.deadline_ns() == INT64_MAX ? nanoseconds::max() : nanoseconds(op.deadline_ns());
    requests_.add(key, std::move(*owned), deadline, begun, [this, begun, answer](Outcome o) {
      seconds_.observe(host_.now() - begun);
      if (!stopping_ && o.transport != Outcome::Transport::cancelled) note(o);
      answer(std::move(o));
    });
  });
  if (!taken)
    answer(not_sent(Outcome::Transport::failed, "the connection to the API server is closed"));
}

void Engine::request(const Op& op, cluster::Request q, Done done) {
  if (q.verb == kubernetes::namespaces_verb) {
    cluster::Response r;
    r.body = restriction_.list();
    return done(std::move(r));
  }
  if (auto allowed = restriction_.allows(q); !allowed.ok()) return done(refusal(allowed.error()));
  auto target = address(q);
  if (!target.ok()) return done(failure(target.error().code, target.error().message));
  Transport::Spec spec;
  spec.method = std::move(target->method);
  spec.path = std::move(target->path);
  spec.content_type = std::move(target->content_type);
  spec.body.append(q.body);
  explicit_bzero(q.body.data(), q.body.size());  // a Secret may be in it
  for (auto& [key, value] : q.headers) {
    if (!clean(key) || !clean(value))
      return done(failure(Code::invalid_argument, "a header has more than one line"));
    if (lower_case(key) == "accept") {
      spec.accept = std::move(value);
    } else {
      spec.headers.emplace_back(std::move(key), std::move(value));
    }
  }
  submit(std::move(spec), op,
         [done = std::move(done)](Outcome o) { done(to_response(std::move(o))); });
}

void Engine::identity(const Op& op, Done done) {
  cluster::Request asked;
  asked.verb = DAVIT_VERB_GET;
  asked.resource = {"", "v1", "namespaces"};
  asked.name = "kube-system";
  if (auto allowed = restriction_.allows(asked); !allowed.ok())
    return done(refusal(allowed.error()));
  Transport::Spec spec;
  spec.path = "/api/v1/namespaces/kube-system";
  submit(std::move(spec), op, [done = std::move(done)](Outcome o) {
    auto r = to_response(std::move(o));
    if (r.code == Code::ok)
      r.body = kubernetes::json_plain_string(kubernetes::json_at(r.body, {"metadata", "uid"}))
                   .value_or("");
    if (r.code == Code::ok && r.body.empty())
      r = failure(Code::internal, "the namespace kube-system has no uid");
    done(std::move(r));
  });
}

void Engine::version(const Op& op, Done done) {
  Transport::Spec spec;
  spec.path = "/version";
  submit(std::move(spec), op,
         [done = std::move(done)](Outcome o) { done(to_response(std::move(o))); });
}

// What the API server says is kept for later callers, so only the answer is given up.
void Engine::discover(const Op& op, std::string group, std::string version, std::string kind,
                      Done done) {
  struct Asked {
    Done done;  // empty: it was called
    std::optional<OnCancel> given_up;
    void answer(cluster::Response r) {
      if (!done) return;
      given_up.reset();
      std::exchange(done, nullptr)(std::move(r));
    }
  };
  const auto asked = std::make_shared<Asked>(Asked{std::move(done), std::nullopt});
  const auto shared =
      std::make_shared<Done>([asked](cluster::Response r) { asked->answer(std::move(r)); });
  asked->given_up.emplace(op, [this, weak = std::weak_ptr(asked)] {
    post([weak] {
      if (const auto own = weak.lock()) own->answer(failure(Code::cancelled, Requests::given_up));
    });
  });
  const bool taken = post([=, this] {
    if (auto known = discovery_.find(group, version, kind, host_.now())) {
      cluster::Response r;
      r.http_status = 200;
      r.body = std::move(*known);
      return (*shared)(std::move(r));
    }
    if (!version.empty() || group.empty()) {
      return discover_resources(group, version.empty() ? "v1" : version, kind, *shared);
    }
    Transport::Spec spec;
    spec.path = Discovery::path(escaped(group), "");
    send(std::move(spec), [=, this](Outcome o) {
      const std::string preferred = o.http == 200 ? Discovery::preferred(o.body) : "";
      if (preferred.empty()) {
        auto r = to_response(std::move(o));
        if (r.code == Code::ok)
          r = failure(Code::internal, "the API group " + group + " has no preferred version");
        return (*shared)(std::move(r));
      }
      discovery_.set_preferred(group, preferred);
      discover_resources(group, preferred, kind, *shared);
    });
  });
  if (!taken) (*shared)(failure(Code::unavailable, "the connection to the API server is closed"));
}

void Engine::discover_resources(const std::string& group, const std::string& version,
                                const std::string& kind, Done done) {
  Transport::Spec spec;
  spec.path = Discovery::path(escaped(group), escaped(version));
  send(std::move(spec), [=, this, done = std::move(done)](Outcome o) {
    if (o.http != 200) return done(to_response(std::move(o)));
    const auto learned = discovery_.learn(group, version, o.body, host_.now());
    if (!learned.ok()) return done(failure(learned.error().code, learned.error().message));
    auto found = discovery_.find(group, version, kind, host_.now());
    if (!found)
      return done(failure(Code::not_found, "no kind \"" + kind + "\" in " + group + "/" + version));
    cluster::Response r;
    r.http_status = 200;
    r.body = std::move(*found);
    done(std::move(r));
  });
}

}  // namespace davit::cluster_kubernetes
