#include "controllers.hpp"

#include "changes.hpp"
#include "finding.hpp"
#include "timely_read.hpp"

namespace davit::desired {

namespace {

records::AppliedList refused_results(const std::vector<records::Document>& documents,
                                     const Error& error) {
  records::AppliedList out;
  for (const auto& d : documents) out.push_back({d.key, {}, {}, error});
  return out;
}

records::AppliedList results(std::vector<Outcome> outcomes) {
  records::AppliedList out;
  for (auto& o : outcomes) {
    auto& applied = out.emplace_back(
        records::Applied{std::move(o.key), {}, {o.incarnation, o.version}, std::move(o.error)});
    if (!applied.error) applied.outcome = word_of(o.type);
  }
  return out;
}

}  // namespace

std::optional<Error> Controllers::over(const Op& op) const {
  if (shared_.stopping) return shutting_down();
  return given_up(op, shared_.host.now());
}

void Controllers::apply(const Op& op, records::Apply request, records::ApplyDone done) {
  if (shared_.stopping) return done(refused_results(request.documents, shutting_down()));
  if (request.author.empty()) {
    return done(refused_results(
        request.documents, {Code::invalid_argument, "is empty: it is kept for audit", "author"}));
  }
  Changes changes{request.documents,
                  request.author,
                  "controller " + request.author,
                  request.request_id,
                  request.dry_run,
                  false,
                  true,
                  request.intent};
  change(shared_, shared_.storage.under(op), std::move(changes),
         [documents = std::move(request.documents),
          done = std::move(done)](Result<std::vector<Outcome>> outcomes) {
           done(outcomes.ok() ? results(std::move(*outcomes))
                              : refused_results(documents, outcomes.error()));
         });
}

void Controllers::read(const Op& op, Find find, records::Done done) {
  if (auto e = over(op)) return done(*e);
  const auto call = std::make_shared<TimelyRead>(shared_, op, std::move(done));
  call->begin();
  shared_.host.blocking(shared_.storage.instance(),
                        [this, call, find = std::move(find), ticket = shared_.outstanding.begin()] {
                          if (auto e = over(call->operation())) return call->answer(*e);
                          call->answer(find(shared_.storage.under(call->operation())));
                        });
}

void Controllers::get(const Op& op, Query query, records::Done done) {
  const Key& key = query.key;
  if (key.kind.empty() || key.region.empty() || (key.id.empty() && query.name.empty())) {
    return done(
        Error{Code::invalid_argument, "a kind, a region, and an id or a name are needed", "key"});
  }
  read(
      op,
      [this, query = std::move(query)](const storage::Client& storage) {
        return find(shared_, storage, query);
      },
      std::move(done));
}

void Controllers::list(const Op& op, records::Read what, records::Done done) {
  read(
      op,
      [this, what = std::move(what)](const storage::Client& storage) {
        return desired::list(shared_, storage, what);
      },
      std::move(done));
}

Result<records::WatchHandle*> Controllers::watch(const records::Read& read, uint32_t credit,
                                                 records::Watcher watcher) {
  auto feed = Feed::make(shared_, read, std::move(watcher));
  records::WatchHandle* const handle = feed.get();
  {
    const std::lock_guard lock(mutex_);
    feeds_.emplace(handle, feed);
  }
  feed->credit(credit);
  return handle;
}

void Controllers::credit(records::WatchHandle* watch, uint32_t more) {
  std::shared_ptr<Feed> feed;
  {
    const std::lock_guard lock(mutex_);
    feed = feeds_.at(watch);
  }
  feed->credit(more);
}

void Controllers::cancel(records::WatchHandle* watch) {
  std::shared_ptr<Feed> feed;
  {
    const std::lock_guard lock(mutex_);
    feed = std::move(feeds_.extract(watch).mapped());
  }
  feed->cancel();
}

}  // namespace davit::desired
