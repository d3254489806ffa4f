#include "watch_flow.hpp"

#include <charconv>

#include "address.hpp"
#include "kubernetes/json_scan.hpp"

namespace davit::cluster_kubernetes {
namespace {

constexpr std::string_view page_limit = "500";
constexpr size_t item_overhead = 64;  // what an event costs in addition to its text

std::string version_text(std::string_view object) {
  return std::string(
      kubernetes::json_plain_string(kubernetes::json_at(object, {"metadata", "resourceVersion"}))
          .value_or(""));
}

std::string message_of(const Outcome& o) {
  Outcome copy = o;
  copy.body.resize(std::min<size_t>(copy.body.size(), 64u << 10));  // a Status is short
  return to_response(std::move(copy)).message;
}

// Compares resource versions, which are growing numbers. False if one of them is not a number.
bool is_before(std::string_view a, std::string_view b) {
  uint64_t x = 0, y = 0;
  const auto whole = [](std::string_view text, uint64_t& out) {
    const auto r = std::from_chars(text.data(), text.data() + text.size(), out);
    return r.ec == std::errc() && r.ptr == text.data() + text.size();
  };
  return whole(a, x) && whole(b, y) && x < y;
}

// For example "403 Forbidden: pods is forbidden: ...".
std::string refusal_of(const Outcome& o) {
  Outcome copy = o;
  copy.body.resize(std::min<size_t>(copy.body.size(), 64u << 10));
  const cluster::Response r = to_response(std::move(copy));
  std::string out = std::to_string(o.http);
  if (!r.reason.empty()) out += " " + r.reason;
  return r.message == r.reason ? out : out + ": " + r.message;
}

// Adds kind and apiVersion to an item of a list. Events have them, lists omit them, and the
// receivers need them.
std::string complete_item(std::string_view item, std::string_view kind,
                          std::string_view api_version) {
  if (kind.empty() || item.size() < 2 || kubernetes::json_member(item, "kind"))
    return std::string(item);
  std::string out =
      "{\"kind\":\"" + std::string(kind) + "\",\"apiVersion\":\"" + std::string(api_version) + "\"";
  const auto rest = item.substr(1);
  if (rest.find_first_not_of(" \t\r\n}") != std::string_view::npos) out += ",";
  return out += rest;
}

}  // namespace

WatchFlow::WatchFlow(cluster::WatchRequest request, std::string collection, Options options)
    : request_(std::move(request)),
      collection_(std::move(collection)),
      options_(options),
      streaming_(options.streaming_lists),
      initial_(request_.resource_version.empty()),
      version_(request_.resource_version),
      backoff_(options.backoff),
      lines_(options.event_bytes_max) {}

WatchFlow::Step WatchFlow::next(uint64_t random) {
  progress_ = broken_ = false;
  retry_after_ = {};
  lines_.reset();
  listing_ = initial_ && !streaming_;
  looking_ = !initial_ && !looked_;
  if (looking_) return look();
  looked_ = false;  // must be asked for again before the next stream
  if (continue_.empty()) announced_ = false;
  Pairs query;
  if (!request_.label_selector.empty())
    query.emplace_back("labelSelector", request_.label_selector);
  if (!request_.field_selector.empty())
    query.emplace_back("fieldSelector", request_.field_selector);
  if (listing_) {
    query.emplace_back("limit", page_limit);
    if (!continue_.empty()) query.emplace_back("continue", continue_);
  } else {
    // Connections end after five to ten minutes, so that they spread over the API servers again.
    query.insert(query.end(), {{"watch", "1"},
                               {"allowWatchBookmarks", "true"},
                               {"timeoutSeconds", std::to_string(300 + random % 300)}});
    if (initial_) {
      query.insert(query.end(),
                   {{"sendInitialEvents", "true"}, {"resourceVersionMatch", "NotOlderThan"}});
    } else {
      query.emplace_back("resourceVersion", version_);
    }
  }
  std::string accept = "application/json";
  if (request_.metadata_only) {
    accept += listing_ ? ";as=PartialObjectMetadataList" : ";as=PartialObjectMetadata";
    accept += ";g=meta.k8s.io;v=v1";
  }
  return {collection_ + query_string(query), std::move(accept), !listing_};
}

// Asks for the metadata of any one object, because the version is that of the list. It uses no
// selector: with one, the API server might search through all objects.
WatchFlow::Step WatchFlow::look() const {
  return {collection_ + query_string({{"limit", "1"}}),
          "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
          false};
}

std::chrono::milliseconds WatchFlow::looked(const Outcome& o, uint64_t random) {
  const std::string version = version_text(o.body);
  if (version.empty()) {
    trouble("the API server answered with something that is no list");
    return backoff_.next(random);
  }
  looked_ = true;
  if (is_before(version, version_)) begin_anew();
  return {};
}

void WatchFlow::opened() {
  if (!initial_) works();
}

// The watch continues where it was, so what it has shown still holds. SYNCED ends a reported
// trouble.
void WatchFlow::works() {
  if (last_trouble_.empty()) return;
  last_trouble_.clear();
  push(DAVIT_WATCH_SYNCED, "{\"metadata\":{\"resourceVersion\":\"" + version_ + "\"}}");
}

void WatchFlow::data(std::string_view chunk) {
  lines_.feed(
      chunk, [this](std::string_view l) { line(l); },
      [this] {
        trouble("an event of more than " + std::to_string(options_.event_bytes_max) +
                " bytes was left out (event_bytes_max)");
      });
}

void WatchFlow::line(std::string_view text) {
  const auto type = kubernetes::json_plain_string(kubernetes::json_member(text, "type"));
  const auto object = kubernetes::json_member(text, "object");
  if (!type || !object || object->empty() || object->front() != '{') {
    trouble("the API server sent a line that is no watch event");
    return;
  }
  if (broken_) return;
  if (initial_ && !announced_ && *type != "ERROR") {
    announced_ = true;
    push(DAVIT_WATCH_RESTART, "{}");
  }
  if (*type == "BOOKMARK") return bookmark(*object);
  if (*type == "ERROR") return failed_event(*object);
  const int32_t kind = *type == "ADDED"      ? DAVIT_WATCH_ADDED
                       : *type == "MODIFIED" ? DAVIT_WATCH_MODIFIED
                       : *type == "DELETED"  ? DAVIT_WATCH_DELETED
                                             : 0;
  if (kind == 0) return;  // a type that this code does not know yet
  progress_ = shown_since_trouble_ = true;
  if (!initial_) {
    // Initial events carry the versions of their objects, in no order. A watch can continue only
    // from the bookmark that ends them.
    if (auto version = version_text(*object); !version.empty()) version_ = std::move(version);
    // It ends no trouble yet: what the watch has missed may still be on its way.
    backoff_.reset();
  }
  push(kind, std::string(*object));
}

void WatchFlow::bookmark(std::string_view object) {
  progress_ = true;
  auto version = version_text(object);
  if (version.empty()) return;
  if (!initial_) {
    version_ = std::move(version);
    backoff_.reset();
    works();
    return;
  }
  const auto end =
      kubernetes::json_at(object, {"metadata", "annotations", "k8s.io/initial-events-end"});
  if (kubernetes::json_plain_string(end).value_or("") == "true")
    synced(std::move(version), std::string(object));
}

void WatchFlow::failed_event(std::string_view status) {
  broken_ = true;
  const std::string code(kubernetes::json_member(status, "code").value_or(""));
  if (code == "410") return begin_anew();
  const bool refused = code == "401" || code == "403";
  cluster::Response said;
  read_status(std::string(status), said);
  retry_after_ = said.retry_after;
  trouble("the watch ended with an error: " + (said.message.empty() ? "no message" : said.message),
          refused ? DAVIT_WATCH_REFUSED : DAVIT_WATCH_TROUBLE);
}

std::chrono::milliseconds WatchFlow::ended(const Outcome& o, uint64_t random) {
  lines_.reset();
  if (o.transport == Outcome::Transport::ok && o.http == 200) {
    if (looking_) return looked(o, random);
    if (listing_) return page(o, random);
    if (broken_) return backoff_.next(random, retry_after_);
    // The server has ended the connection at the agreed time.
    if (progress_ && !initial_) return {};
    return backoff_.next(random);
  }
  return refused(o, random);
}

std::chrono::milliseconds WatchFlow::refused(const Outcome& o, uint64_t random) {
  if (o.transport == Outcome::Transport::ok) {
    if (initial_ && streaming_ && (o.http == 400 || o.http == 422)) {
      // An older server. If it refuses our selector, the list will show that.
      streaming_ = false;
      return {};
    }
    if (o.http == 410) {
      begin_anew();
      return backoff_.next(random);
    }
  }
  // A stream that breaks off after it has worked is not reported. A stream that delivers nothing
  // is.
  const bool cut = o.http == 200 && progress_;
  if (is_absent(o)) {
    absent(message_of(o));
  } else if (is_refused(o)) {
    trouble(refusal_of(o), DAVIT_WATCH_REFUSED);
  } else if (!cut) {
    trouble(message_of(o));
  }
  return backoff_.next(random, to_response({o.transport, {}, o.http, o.headers, {}}).retry_after);
}

std::chrono::milliseconds WatchFlow::page(const Outcome& o, uint64_t random) {
  const std::string version = version_text(o.body);
  std::vector<std::string_view> items;
  bool objects = true;
  if (const auto array = kubernetes::json_member(o.body, "items")) {
    kubernetes::json_elements(*array, [&](std::string_view item) {
      objects = objects && item.front() == '{';
      items.push_back(item);
    });
  }
  if (version.empty() || !objects) {
    trouble("the API server answered with something that is no list");
    return backoff_.next(random);
  }
  if (!announced_) push(DAVIT_WATCH_RESTART, "{}");
  announced_ = true;
  std::string_view kind =
      kubernetes::json_plain_string(kubernetes::json_member(o.body, "kind")).value_or("");
  if (kind.ends_with("List")) kind.remove_suffix(4);
  const auto api_version =
      kubernetes::json_plain_string(kubernetes::json_member(o.body, "apiVersion")).value_or("");
  for (const auto item : items) push(DAVIT_WATCH_ADDED, complete_item(item, kind, api_version));
  continue_ = kubernetes::json_plain_string(kubernetes::json_at(o.body, {"metadata", "continue"}))
                  .value_or("");
  if (continue_.empty()) {
    looked_ = true;
    synced(version, "{\"metadata\":{\"resourceVersion\":\"" + version + "\"}}");
  }
  return {};
}

// True for an answer that the same request would get again, because the credentials or the request
// are not accepted.
bool WatchFlow::is_refused(const Outcome& o) const {
  if (o.transport != Outcome::Transport::ok || o.http < 400 || o.http >= 500) return false;
  if (is_absent(o)) return false;
  // When a streaming list is refused as invalid, the next step asks for a list.
  if ((o.http == 400 || o.http == 422) && initial_ && streaming_) return false;
  return o.http != 408 && o.http != 410 && o.http != 429;
}

// True if the API server says that it does not know the resource. Whoever else answers 404 knows
// nothing of the objects. The group of a custom resource must have a dot; core groups such as ""
// and "apps" have none. If pods are not found, the fault is with the server that answers, not with
// the pods.
bool WatchFlow::is_absent(const Outcome& o) const {
  return o.transport == Outcome::Transport::ok && o.http == 404 && is_of_api_server(o) &&
         request_.resource.group.find('.') != std::string::npos;
}

// Nothing exists of a resource that the API server does not know. It may know it later.
void WatchFlow::absent(std::string message) {
  begin_anew();
  const bool said = trouble(std::move(message));
  if (std::exchange(absent_, true) && !said) return;
  push(DAVIT_WATCH_RESTART, "{}");
  push(DAVIT_WATCH_SYNCED, "{}");
}

void WatchFlow::begin_anew() {
  initial_ = true;
  version_.clear();
  continue_.clear();
}

void WatchFlow::synced(std::string version, std::string object) {
  initial_ = absent_ = false;
  progress_ = true;
  version_ = std::move(version);
  backoff_.reset();
  last_trouble_.clear();
  push(DAVIT_WATCH_SYNCED, std::move(object));
}

bool WatchFlow::trouble(std::string message, int32_t type) {
  if (!std::exchange(shown_since_trouble_, false) && message == last_trouble_) return false;
  last_trouble_ = message;
  push(type, std::move(message));
  return true;
}

void WatchFlow::push(int32_t type, std::string object) {
  waiting_bytes_ += object.size() + item_overhead;
  waiting_.push_back({type, std::move(object)});
}

std::optional<WatchFlow::Item> WatchFlow::take() {
  if (credit_ == 0 || waiting_.empty()) return std::nullopt;
  --credit_;
  Item item = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= item.object.size() + item_overhead;
  return item;
}

}  // namespace davit::cluster_kubernetes
