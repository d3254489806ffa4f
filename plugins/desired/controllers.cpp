#include "controllers.hpp"

#include "changes.hpp"
#include "finding.hpp"

namespace davit::desired {

namespace {

Error stopped() {
  return {Code::unavailable, "the server is shutting down", {}, {}};
}

records::AppliedList refused_results(const std::vector<records::Document>& documents,
                                     const Error& error) {
  records::AppliedList out;
  for (const auto& d : documents) out.push_back({d.key, {}, {}, error});
  return out;
}

records::AppliedList results(std::vector<Outcome> outcomes, uint64_t incarnation) {
  records::AppliedList out;
  for (auto& o : outcomes) {
    auto& applied = out.emplace_back(
        records::Applied{std::move(o.key), {}, {incarnation, o.version}, std::move(o.error)});
    if (!applied.error) applied.outcome = std::move(o.word);
  }
  return out;
}

}  // namespace

std::optional<Error> Controllers::over(const Op& op) const {
  if (shared_.stopping) return stopped();
  if (op.cancelled()) return Error{Code::cancelled, "the caller has given up", {}, {}};
  if (op.deadline_ns() <= shared_.host.now().count())
    return Error{Code::deadline_exceeded, "the deadline has passed", {}, {}};
  return std::nullopt;
}

void Controllers::apply(const Op& op, records::Apply request, records::ApplyDone done) {
  if (shared_.stopping) return done(refused_results(request.documents, stopped()));
  if (request.author.empty()) {
    return done(
        refused_results(request.documents,
                        {Code::invalid_argument, "is empty: it is kept for audit", "author", {}}));
  }
  Changes changes{request.documents,
                  request.author,
                  "controller " + request.author,
                  request.request_id,
                  request.dry_run,
                  false,
                  true};
  change(shared_, std::move(changes), op,
         [this, documents = std::move(request.documents),
          done = std::move(done)](Result<std::vector<Outcome>> outcomes) {
           if (!outcomes.ok()) return done(refused_results(documents, outcomes.error()));
           // A commit may have begun an incarnation, so the head is read behind it.
           shared_.host.blocking(
               shared_.storage.instance(), [this, outcomes = std::move(*outcomes), done,
                                            ticket = shared_.outstanding.begin()]() mutable {
                 const auto head = shared_.storage.head();
                 done(results(std::move(outcomes), head.ok() ? head->head.incarnation : 0));
               });
         });
}

void Controllers::read(const Op& op, Find find, records::Done done) {
  if (auto e = over(op)) return done(*e);
  shared_.host.blocking(shared_.storage.instance(),
                        [this, op, find = std::move(find), done = std::move(done),
                         ticket = shared_.outstanding.begin()] {
                          if (auto e = over(op)) return done(*e);
                          done(find());
                        });
}

void Controllers::get(const Op& op, Query query, records::Done done) {
  const Key& key = query.key;
  if (key.kind.empty() || key.region.empty() || (key.id.empty() && query.name.empty())) {
    return done(Error{
        Code::invalid_argument, "a kind, a region, and an id or a name are needed", "key", {}});
  }
  read(
      op, [this, query = std::move(query)] { return find(shared_, query); }, std::move(done));
}

void Controllers::list(const Op& op, records::Read what, records::Done done) {
  read(
      op, [this, what = std::move(what)] { return desired::list(shared_, what); }, std::move(done));
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
