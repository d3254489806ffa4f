// Who owns which fields of an object (metadata.managedFields, Kubernetes' server-side apply). Pure
// functions over JSON.
#pragma once

#include <boost/json/fwd.hpp>
#include <string_view>

namespace davit::applier {

namespace json = boost::json;

// Of an owned object's field owners only those count that are neither us nor about its status.
void trim_managers(json::object& metadata, std::string_view our_manager);

// Gives what others have set in an object to us, so that our next apply takes away what it does not
// say. Theirs stay: metadata, what goes through a subresource (status, scale), another API
// version's and what Kubernetes itself sets ("kube-..."). False: there is nothing else.
bool take_fields_over(json::array& managers, std::string_view our_manager,
                      std::string_view api_version);

}  // namespace davit::applier
