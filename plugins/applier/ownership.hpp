// Decides which record an object belongs to (our stamps), and which field manager owns which of its
// fields (metadata.managedFields of Kubernetes' server-side apply). A reconciliation asks before it
// touches an object. Pure functions over JSON.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

#include <davit/records.hpp>

#include "foreign_incarnations.hpp"

namespace davit::applier {

namespace json = boost::json;

struct Meta;

// What the stamps of a record's objects say: region and kind as labels, and the record's
// "namespace/name".
struct Claim {
  std::string region, kind, record;
};
// The other owner that an object's stamps name: "region \"us\"". Empty: no stamp contradicts the
// claim. There may be no stamps at all.
std::string other_owner(const Meta& meta, const Claim& claim);

// What an agent knows when it touches an object: the version that it applies, the incarnation in
// which it read that version, the incarnation of the present stream, and the store's history.
struct Knowledge {
  Version version{};
  Incarnation incarnation{}, stream{};
  const History* history = nullptr;
  const Incarnations* foreign_incarnations = nullptr;  // incarnations known not to be this store's
};
// Whether an object was made of a later version of the same store. False when the object is of
// another store or the peer names no incarnations: then nothing is known.
bool made_later(Cursor made_of, const Knowledge& known);
// Whether it is still unknown if the object was made later: it names an incarnation that this agent
// has not heard of.
bool cannot_be_placed(Cursor made_of, const Knowledge& known);
// Whether an object's stamp names the present history. If it names a history that the store has
// lost, the object is applied again, because otherwise it could never be pruned. True when the peer
// names no history.
bool of_this_history(Cursor made_of, const Knowledge& known);

// The field manager that changed the object last and is neither ours nor Kubernetes itself; empty:
// none is named. The object must have passed trim_managers.
std::string last_writer(const json::object& metadata);

// {key: true} for each key under "data" that this manager has applied, and whose value nobody has
// changed since.
boost::json::object data_set_by(const boost::json::object& metadata, std::string_view manager);

// Removes the entries of managedFields that do not matter for an owned object: our own, and those
// of its status.
void trim_managers(json::object& metadata, std::string_view our_manager);

// Gives fields that others have set in an object to our field manager, so that our next apply
// removes those it does not name. Not taken over: metadata, subresources (status, scale), fields of
// another API version, and what Kubernetes itself sets ("kube-..."). False: there is nothing to
// take over.
bool take_fields_over(json::array& managers, std::string_view our_manager,
                      std::string_view api_version);

}  // namespace davit::applier
