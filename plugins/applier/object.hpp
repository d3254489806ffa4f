// Kubernetes objects as the applier sees them: what they are called, what we stamp on them, what of
// them is worth keeping, and whether one still says what we applied. Pure functions over JSON.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <davit/cluster.hpp>
#include <davit/kind.hpp>

namespace davit::applier {

namespace json = boost::json;

namespace stamp {
// Labels: whose an object is, safe to select by.
inline constexpr std::string_view region = "davit.dev/region";
inline constexpr std::string_view kind = "davit.dev/kind";
// Annotations: the record it was made of (its id, its namespace/name), the version that last
// changed the object and the incarnation of the store that it was read in, and the hash of what was
// rendered.
inline constexpr std::string_view record = "davit.dev/record";
inline constexpr std::string_view id = "davit.dev/id";
inline constexpr std::string_view version = "davit.dev/version";
inline constexpr std::string_view incarnation = "davit.dev/incarnation";
inline constexpr std::string_view hash = "davit.dev/hash";
}  // namespace stamp

struct ObjectName {
  cluster::Resource resource;
  std::string ns, name;
  // Unique among all objects of a cluster, whatever the API version.
  std::string path() const {
    return resource.group + "/" + resource.resource + "/" + ns + "/" + name;
  }
  // For people: "replicasets.apps shop/web".
  std::string text() const;
  cluster::Request request(std::string verb) const;
};

// A member's text; empty when there is none or it is something else.
std::string text_in(const json::object& object, std::string_view key);

// What the applier reads of any object.
struct Meta {
  std::string name, ns, uid, resource_version;
  std::string region, kind, id, record, hash;  // our stamps; empty: not there
  Cursor made_of;
  bool terminating = false;
};
Meta meta_of(const json::object& object);

// A text as a label value: itself when it is one, else its safe characters and a fingerprint.
std::string label_value(std::string_view text);

// 0: it is none.
uint64_t number_of(std::string_view text);

// True when resource version `a` is not older than `b`. Versions that are not numbers count as
// newer.
bool not_older(std::string_view a, std::string_view b);

// Leaves of a watched object what its role needs: of an owned one everything but the field owners
// that are ourselves or speak of status; of a seen one its metadata and the kept pointers.
void compact(json::object& object, const kind::Resource& as, std::string_view our_manager);
// What is to be stored of a seen object once it is known whose it is: of its metadata no more than
// identity, version, deletion and the kept pointers.
void forget_metadata(json::object& seen, const kind::Resource& as);

// A hash of the value by meaning: the order of an object's members does not count.
uint64_t fingerprint(const json::value& value);
// The same of what people and agents set of an object: not its status, nor what the API server
// counts with each change of that. 0: the text is no object.
uint64_t fingerprint_of_wishes(std::string_view object);
// The same of `observed` cut to the shape of `shape`: of an object the members that shape has, of
// an array of the same length each element so, of anything else the whole. So what the API server
// adds (defaults, status) does not count, and what it rewrites (quantities) counts the same each
// time.
uint64_t projection(const json::value* observed, const json::value& shape);
std::string hex(uint64_t hash);

}  // namespace davit::applier
