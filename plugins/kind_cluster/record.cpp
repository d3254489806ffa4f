#include "record.hpp"

#include <algorithm>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "ip_range.hpp"
#include "kubernetes/fields.hpp"
#include "kubernetes/message.hpp"
#include "kubernetes/written.hpp"

namespace davit::cluster_record {
namespace {

using namespace kubernetes;

// The object of the Cluster, its spec and its providerSpec are around the value.
constexpr int levels_around_provider_spec = 3;
// An API server's store takes requests of 1.5 MiB. Whoever applies the record hears of it at once.
constexpr size_t provider_spec_bytes_max = 1 << 20;

Named named_in(const Fields& f) {
  Named named{f.string("id"), f.needed("namespace"), f.needed("name")};
  if (named.id.empty()) named.id = named.ns + "." + named.name;
  return named;
}

void check_names(const Fields& f, const Named& named, const Site& site) {
  if (auto fault = dns_label_fault(named.ns)) f.reject("namespace", *fault);
  const auto& allowed = site.namespaces;
  if (!allowed.empty() && std::ranges::find(allowed, named.ns) == allowed.end())
    f.reject("namespace",
             "\"" + named.ns + "\" is not among the `namespaces` that clusters may be in here");
  if (auto fault = dns_subdomain_fault(named.name)) f.reject("name", *fault);
  if (named.name.size() > names::label_max)
    f.reject("name",
             "must have at most 63 characters: what belongs to the cluster has it as a label");
}

// Labels or annotations. The API server checks their size.
json::object read_texts(const Fields& f, const char* key, bool labels) {
  const json::object* given = f.object(key);
  if (given == nullptr) return {};
  for (const auto& member : *given) {
    const std::string_view name(member.key().data(), member.key().size());
    const std::string where = std::string(key) + "[\"" + std::string(name) + "\"]";
    if (label_key_fault(name))
      f.reject(key, names::refused("of keys such as \"team\" or \"example.com/team\"", name));
    if (name.starts_with(own_prefix)) f.reject(where, "is Davit's own: take it out");
    if (!member.value().is_string())
      f.reject(where, "must be a text");
    else if (auto fault = label_value_fault(text_of(&member.value())); labels && fault)
      f.reject(where, *fault);
  }
  return *given;
}

std::vector<std::string> read_ranges(const Fields& f, const char* key) {
  std::vector<std::string> out = f.strings(key);
  for (size_t i = 0; i < out.size(); ++i) {
    if (auto fault = ip_range_fault(out[i]))
      f.reject(std::string(key) + "[" + std::to_string(i) + "]", *fault);
  }
  return out;
}

void read_network(const Fields& message, Record& r) {
  const json::object* network = message.object("network");
  if (network == nullptr) return;
  const Fields f = message.inside(*network, "network");
  r.services = read_ranges(f, "services");
  r.pods = read_ranges(f, "pods");
  r.service_domain = f.string("service_domain");
  if (r.service_domain.empty()) return;
  if (auto fault = dns_subdomain_fault(r.service_domain)) f.reject("service_domain", *fault);
}

void read_provider(const Fields& message, Record& r) {
  const json::object* value = message.object("provider_spec");
  if (value != nullptr && value->contains(raw_bytes_key))
    message.reject("provider_spec", "must be an object of JSON");
  if (value != nullptr && json::serialize(*value).size() > provider_spec_bytes_max)
    message.reject("provider_spec", "must have at most 1 MiB: no cluster stores a larger object");
  if (value != nullptr) r.provider_spec = *value;
  const json::object* given = message.object("machine_class");
  if (given == nullptr) return;
  if (value != nullptr)
    message.reject("machine_class", "stands in place of provider_spec: take one of them out");
  const Fields f = message.inside(*given, "machine_class");
  json::object reference;
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) reference[key] = text;
  };
  add("kind", f.string("kind"));
  add("namespace", f.string("namespace"));
  add("name", f.needed("name"));
  add("apiVersion", f.string("api_version"));
  add("provider", f.string("provider"));
  r.machine_class = std::move(reference);
}

}  // namespace

Result<Record> read_record(const json::object& message, const Site& site) {
  std::optional<Error> fault;
  const Fields f(message, fault);
  Record r;
  const Named named = named_in(f);
  check_names(f, named, site);
  r.id = named.id;
  r.ns = named.ns;
  r.name = named.name;
  r.labels = read_texts(f, "labels", true);
  r.annotations = read_texts(f, "annotations", false);
  if (r.annotations.contains(paused_annotation))
    f.reject("annotations", std::string(paused_annotation) + ": write `paused: true` in its place");
  read_network(f, r);
  read_provider(f, r);
  r.paused = f.optional_boolean("paused").value_or(false);
  if (fault) return *fault;
  return r;
}

Result<Named> identify(std::string_view apply) {
  const auto message = parse_object(apply, "the cluster");
  if (!message.ok()) return message.error();
  std::optional<Error> fault;
  Named named = named_in(Fields(message->get_object(), fault));
  if (fault) return *fault;
  return named;
}

Result<> validate(std::string_view apply, const Site& site) {
  auto written = check_written(apply, object_depth_max - levels_around_provider_spec);
  if (!written.ok()) return written;
  const auto message = parse_object(apply, "the cluster");
  if (!message.ok()) return message.error();
  const auto record = read_record(message->get_object(), site);
  if (!record.ok()) return record.error();
  return {};
}

}  // namespace davit::cluster_record
