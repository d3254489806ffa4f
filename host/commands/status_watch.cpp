#include "status_watch.hpp"

#include <cstdio>
#include <optional>
#include <random>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <davit/backoff.hpp>

#include "exit_codes.hpp"
#include "status_tables.hpp"

namespace davit::host {

namespace {

namespace json = boost::json;

// Limits of the pauses while the server is away.
constexpr Backoff::Limits away_limits{std::chrono::milliseconds(500),
                                      std::chrono::milliseconds(10'000)};

// The status without what changes with every report.
std::string essence_of(const v1::ObjectStatus& object) {
  v1::ObjectStatus out = object;
  if (out.has_observed()) {
    out.mutable_observed()->clear_epoch();
    out.mutable_observed()->clear_sequence();
    out.mutable_observed()->clear_reported_at_unix_ms();
  }
  return out.SerializeAsString();
}

class StatusPrinter {
 public:
  explicit StatusPrinter(Format format) : format_(format) {}

  // The kind's columns are those of the first answer of all.
  void begin(const KindColumns::Columns& columns) {
    if (!rows_) rows_.emplace(columns);
  }
  // False: nobody reads the output any more.
  bool print(const std::vector<v1::ObjectStatus>& objects) {
    if (objects.empty()) return true;
    if (!is_document(format_)) {
      const Look look{use_colour(), table_room(format_)};
      std::fputs(rows_->print(objects, look).c_str(), stdout);
      return flush_output();
    }
    for (const auto& object : objects) {
      json::value document = to_json(object);
      unfold_detail(document);
      if (format_ == Format::json) {
        std::puts(json::serialize(document).c_str());
        continue;
      }
      if (std::exchange(any_, true)) std::fputs("---\n", stdout);
      host::print(document, format_);
    }
    return flush_output();
  }

 private:
  Format format_;
  std::optional<ObjectRows> rows_;
  bool any_ = false;
};

}  // namespace

void unfold_detail(json::value& object) {
  json::error_code error;
  json::value* detail = object.find_pointer("/observed/detail", error);
  if (detail == nullptr || !detail->is_string()) return;
  json::value nested = json::parse(detail->get_string(), error);
  if (!error) *detail = std::move(nested);
}

std::vector<v1::ObjectStatus> StatusNews::take(const v1::StatusResponse& answer) {
  std::vector<v1::ObjectStatus> out;
  std::map<Key, v1::ObjectStatus> now;
  for (const auto& o : answer.objects()) {
    const Key key{o.kind(), o.region(), o.id()};
    const auto before = known_.find(key);
    if (before == known_.end() || essence_of(before->second) != essence_of(o)) out.push_back(o);
    now[key] = o;
  }
  for (auto& [key, object] : known_) {
    if (now.contains(key)) continue;
    object.set_state("deleted");
    object.set_live(false);
    object.clear_condition();
    object.clear_reason();
    object.clear_observed();
    object.mutable_observed()->set_gone(true);
    out.push_back(std::move(object));
  }
  known_ = std::move(now);
  return out;
}

int watch_status(OperatorClient& client, const v1::StatusRequest& request,
                 const std::function<void(v1::StatusResponse&)>& keep, Format format) {
  StatusPrinter printer(format);
  StatusNews news;
  Backoff backoff(away_limits);
  std::random_device random;
  bool begun = false, away = false, written = true;
  for (;;) {
    v1::StatusResponse response;
    auto ended = client.watch("WatchStatus", request, response, [&] {
      if (std::exchange(away, false)) tell(stderr, "davit status: connected again");
      begun = true;
      backoff.reset();
      keep(response);
      printer.begin(response.columns());
      return written = printer.print(news.take(response));
    });
    if (!written) return exit_code_failed;  // Command::run() reports it
    const Error why = ended.ok() ? Error{Code::cancelled, ""} : ended.error();
    if (!begun || why.code != Code::unavailable) return failed("status", why);
    if (!std::exchange(away, true))
      tell(stderr, "davit status: " + why.message + "; connecting again");
    if (!client.pause(backoff.next(random()))) return failed("status", why);
  }
}

}  // namespace davit::host
