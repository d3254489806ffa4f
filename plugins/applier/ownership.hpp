// Whose an object is (our stamps), and who owns which of its fields (metadata.managedFields,
// Kubernetes' server-side apply). Pure functions over JSON.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

#include <davit/records.hpp>

#include "strangers.hpp"

namespace davit::applier {

namespace json = boost::json;

struct Meta;

// What the stamps of a record's objects say: region and kind as labels, the record's
// "namespace/name".
struct Claim {
  std::string region, kind, record;
};
// Whom an object belongs to that our stamps give to somebody else: "region \"us\"". Empty: no stamp
// contradicts the claim, which need not mean that there are any.
std::string other_owner(const Meta& meta, const Claim& claim);

// What an agent knows when it touches an object: the version that it goes by, the incarnations of
// the store in which it read that and reads now, and the store's history.
struct Knowledge {
  uint64_t version = 0, incarnation = 0, stream = 0;
  const History* history = nullptr;
  const Incarnations* strangers = nullptr;  // that are none of the store's
};
// Whether an object was made of a later version of the same store. Of another store nothing can be
// said, nor of a peer that names no incarnations.
bool made_later(Cursor made_of, const Knowledge& known);
// Whether it is not known yet if it was: it names an incarnation that this agent has not heard of.
bool cannot_be_placed(Cursor made_of, const Knowledge& known);

// The manager that has changed the object last and is neither us nor Kubernetes itself; empty: none
// is named. Of an object whose own and status entries trim_managers has taken out.
std::string last_writer(const json::object& metadata);

// Of an owned object's field owners only those count that are neither us nor about its status.
void trim_managers(json::object& metadata, std::string_view our_manager);

// Gives what others have set in an object to us, so that our next apply takes away what it does not
// say. Theirs stay: metadata, what goes through a subresource (status, scale), another API
// version's and what Kubernetes itself sets ("kube-..."). False: there is nothing else.
bool take_fields_over(json::array& managers, std::string_view our_manager,
                      std::string_view api_version);

}  // namespace davit::applier
