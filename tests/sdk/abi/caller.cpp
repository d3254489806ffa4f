// Calls every table that another instance has, with the wrapper of today, and logs what came of it.
// test_frozen.py lets it call plugins that were built from the frozen copy of the ABI.
//
//   storage = "store"   kind = "notes"   changes = "sink"   statuses = "tee"   secrets = "vault"
#include <map>

#include <davit/gate.hpp>
#include <davit/kind.hpp>
#include <davit/secrets.hpp>
#include <davit/sink.hpp>
#include <davit/storage.hpp>

namespace {

using namespace davit;

constexpr const char* note = R"({"id":"n-1","namespace":"shop","name":"list","text":"milk"})";

class Caller {
 public:
  using roles = Roles<>;
  explicit Caller(Host host) : host_(host) {
    const Settings settings(host);
    for (const char* key : {"storage", "kind", "changes", "statuses", "secrets"})
      named_[key] = settings.string(key);
  }

  Result<> wire() {
    const auto take = [](auto found, auto& out) {
      if (found.ok()) out = *found;
      return found.ok() ? Result<>() : Result<>(found.error());
    };
    if (auto r = take(storage::Client::find(host_, named_["storage"]), storage_); !r.ok()) return r;
    if (auto r = take(sink::ChangeClient::find(host_, named_["changes"]), changes_); !r.ok())
      return r;
    if (auto r = take(sink::StatusClient::find(host_, named_["statuses"]), statuses_); !r.ok())
      return r;
    if (auto r = take(secrets::Client::find(host_, named_["secrets"]), secrets_); !r.ok()) return r;
    if (auto r = take(gate::Client::find(host_, std::nullopt), gate_); !r.ok()) return r;
    for (const auto& ref : each(host_, DAVIT_KIND)) {
      if (view(ref.instance) == named_["kind"]) kind_ = kind::Client(ref);
    }
    return {};
  }

  Result<> start(const Op&) {
    gate_->wait([this](Epoch epoch) { say("gate.wait", epoch ? "open" : "closed"); });
    host_.blocking(named_["storage"], [this] { call_all(); });
    return {};
  }

 private:
  void call_all() {
    call_kind();
    call_storage();
    call_sinks();
    call_secrets();
    say("all", "called");
  }

  void call_kind() {
    say("kind.describe", kind_.description().kind + " " + kind_.description().columns.at(0).name);
    say("kind.validate", kind_.validate(R"({"id":"n-1","namespace":"shop"})"));
    const auto named = kind_.identify(note);
    say("kind.identify", named, [](const Named& n) { return n.id + " " + n.ns + " " + n.name; });
    say("kind.classify", kind_.classify("kept", note),
        [](kind::Class c) { return std::to_string(static_cast<int>(c)); });
    const std::string input = R"({"record":{"id":"n-1"},"desired":)" + std::string(note) + "}";
    say("kind.reconcile", kind_.reconcile(input), [](const std::string& s) { return s; });
    say("kind.attribute", kind_.attribute(note), [](const auto& all) { return all.at(0).name; });
    const auto schema = kind_.schema(host_);
    say("its descriptors", schema, [](const Schema& s) {
      const auto message = s.from_json("frozen.Note", note);
      return message.ok() ? *s.to_json("frozen.Note", *message) : message.error().message;
    });
  }

  Record record() const {
    Record out;
    out.key = {"note", "local", "n-1"};
    out.ns = "shop";
    out.name = "list";
    out.state = "kept";
    out.payload = "milk";
    out.annotations = {{"a", "b"}};
    return out;
  }

  void call_storage() {
    const auto version = [](const auto& head) { return to_string(head.head.version); };
    say("storage.limits", storage_.limits(),
        [](const storage::Limits& l) { return std::to_string(l.group_records); });
    say("storage.commit", storage_.commit_now({Group{{{record(), 0}, {record(), 7}}, ""}}),
        [](const auto& all) { return all.at(0).error ? all.at(0).error->message : "committed"; });
    say("storage.commit", storage_.commit_now({Group{{{record(), 0}}, "r-1"}}),
        [](const auto& all) { return to_string(all.at(0).first_version); });
    say("storage.head", storage_.head(), version);
    std::string found;
    const auto visit = [&found](const davit_record& r) {
      found += text(r.name) + "=" + std::string(view(r.payload)) + " " + text(r.annotations->value);
      return true;
    };
    say("storage.read", storage_.read({{}, {}, 0, 10, 1024, true}, visit),
        [&](const Page& p) { return found + (p.more ? " more" : " end"); });
    found.clear();
    say("storage.get", storage_.get({{"note", "local", ""}, "", "list"}, visit),
        [&](const Head& h) { return found + " " + version(h); });
    say("storage.history", storage_.history(),
        [](const History& h) { return to_string(h.at(0).version); });
    call_storage_of_statuses();
    say("storage.maintain", storage_.maintain({true, 1, {}}));
  }

  void call_storage_of_statuses() {
    say("storage.report", storage_.report_now({status()}));
    std::string found;
    say("storage.statuses",
        storage_.statuses({{}, {}, 10, 1024},
                          [&found](const davit_status& s) {
                            found += text(s.health) + " " + std::to_string(s.status_version);
                            return true;
                          }),
        [&](const StatusPage& p) { return found + (p.more ? " more" : " end"); });
    Progress progress;
    progress.region = "local";
    progress.agent = "a-1";
    progress.kinds = {{"note", {1, 2}}};
    say("storage.progress", storage_.progress(progress));
    found.clear();
    say("storage.agents", storage_.agents("local", [&found](const davit_progress& p) {
      found += text(p.agent) + " " + text(p.kinds[0]->kind);
      return true;
    }));
    say("storage.agents", found);
  }

  static Status status() {
    Status out;
    out.key = {"note", "local", "n-1"};
    out.health = "healthy";
    out.epoch = 1;
    out.sequence = 1;
    return out;
  }

  void call_sinks() {
    const auto stream =
        changes_.open("note", "local",
                      {[] {},
                       [this](Version v, sink::Outcome o) {
                         say("settled", to_string(v) + " " + std::to_string(static_cast<int>(o)));
                       },
                       [this] { say("closed", "ok"); }});
    say("change_sink.open", stream, [](const auto&) { return "ok"; });
    if (!stream.ok()) return;
    say("change_sink.begin", stream->begin({true, {1, 0}, {{1, 2}, {3, 4}}}));
    sink::Change change;
    change.key = record().key;
    change.version = 5;
    say("change_sink.offer", stream->offer(change) ? "accepted" : "refused");
    say("change_sink.bookmark", stream->bookmark({true, 1, {1, 5}, false}));
    stream->close();
    say("status_sink.offer", statuses_.offer(status()));
    statuses_.advance("local", {"note", {1, 6}});
    Issue issue;
    issue.version = 7;
    issue.condition = "parked";
    statuses_.issue("local", issue);
  }

  void call_secrets() {
    secrets_.resolve(
        {{DAVIT_SECRET_DECRYPT, "k", "Uryyb", "", "", ""},
         {DAVIT_SECRET_READ, "", "", "apps/web", "password", ""}},
        [this](const secrets::Results& results) {
          for (const auto& r : results)
            say("secrets.resolve", r,
                [](const secrets::Value& v) { return std::string(v.secret.view()); });
        },
        operation_);
  }

  template <class R, class F>
  void say(std::string_view what, const R& result, F of) const {
    say(what, result.ok() ? std::string(of(*result)) : result.error().message);
  }
  void say(std::string_view what, const Result<>& result) const {
    say(what, result.ok() ? std::string("ok") : result.error().message);
  }
  void say(std::string_view what, const std::string& answer) const {
    host_.info("called", {{"what", std::string(what)}, {"answer", answer}});
  }
  void say(std::string_view what, const char* answer) const { say(what, std::string(answer)); }

  Host host_;
  std::map<std::string, std::string> named_;
  storage::Client storage_;
  kind::Client kind_;
  sink::ChangeClient changes_;
  sink::StatusClient statuses_;
  secrets::Client secrets_;
  std::optional<gate::Client> gate_;
  Operation operation_;
};

}  // namespace

DAVIT_PLUGIN(Caller, "frozen_caller", "1", "calls every table")
