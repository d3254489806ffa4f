// Kubernetes objects as the applier sees them: their names, the stamps that Davit writes on them,
// the parts that are kept, and whether an object still says what was applied. Reconciliations and
// watches use these functions. They are pure and work on JSON.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <davit/cluster.hpp>
#include <davit/kind.hpp>

#include "controller/picture.hpp"
#include "kubernetes/fingerprint.hpp"

namespace davit::applier {

namespace json = boost::json;

namespace stamp {
// Labels say whose an object is. They are safe to select by.
inline constexpr std::string_view region = "davit.dev/region";
inline constexpr std::string_view kind = "davit.dev/kind";
// Annotations name the record that the object was made of (its id, its namespace/name), the version
// that last changed the object, the incarnation of the store in which that version was read, and
// the hash of what was rendered.
inline constexpr std::string_view record = "davit.dev/record";
inline constexpr std::string_view id = "davit.dev/id";
inline constexpr std::string_view version = "davit.dev/version";
inline constexpr std::string_view incarnation = "davit.dev/incarnation";
inline constexpr std::string_view hash = "davit.dev/hash";
// Of a Secret: the hash of what its values are resolved from.
inline constexpr std::string_view secrets = "davit.dev/secrets";
}  // namespace stamp

struct ObjectName {
  cluster::Resource resource;
  std::string ns, name;
  // Unique among all objects of a cluster, whatever the API version.
  std::string path() const {
    return resource.group + "/" + resource.resource + "/" + ns + "/" + name;
  }
  // For people: "replicasets.apps context/web".
  std::string text() const;
  cluster::Request request(std::string verb) const;
  // The answer to this one has no more than compact() keeps.
  cluster::Request request_compact(std::string verb) const;
};

// The text of a member; empty when there is none or when it is not a string.
std::string text_in(const json::object& object, std::string_view key);

// What the applier reads of any object.
struct Meta {
  std::string name, ns, uid, resource_version;
  std::string region, kind, id, record, hash;  // our stamps; empty: absent
  Cursor made_of;
  bool terminating = false;
};
Meta meta_of(const json::object& object);

// The text as a label value: the text itself when it is a valid label value, else its safe
// characters and a fingerprint.
std::string label_value(std::string_view text);

using controller::number_of;

// Whether only the metadata of the resource's objects is read: the content of Secrets is not
// brought into this process.
bool metadata_only(std::string_view group, std::string_view resource);

// Reduces a watched object to what its role needs. An owned object keeps everything but two kinds
// of field owners: ourselves, and those of the status. A seen object keeps its metadata and the
// kept pointers. Of a Secret the content goes, if it is there, and "values" has {key: true} for
// each key of its data whose present value we have set.
void compact(json::object& object, const kind::Resource& as, std::string_view our_manager);
// Reduces a seen object further, once the record it belongs to is known. Of its metadata only the
// identity, version, deletion and the kept pointers stay.
void forget_metadata(json::object& seen, const kind::Resource& as);

using kubernetes::fingerprint;
using kubernetes::hex;
using kubernetes::projection;
// The fingerprint of what people and agents set in an object. It leaves out the status, the
// resource version and the field owners, which change with each status. 0: the text is no object.
uint64_t fingerprint_without_status(std::string_view object);

}  // namespace davit::applier
