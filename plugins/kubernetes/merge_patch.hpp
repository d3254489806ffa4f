// Merge patches of JSON (RFC 7386): what a patch makes of a value, and the patch that makes one
// value of another. Pure.
#pragma once

#include <boost/json/fwd.hpp>

namespace davit::kubernetes {

// Applies the patch. A null takes a member away, an object is merged, anything else replaces.
void merge_patch(boost::json::object& target, const boost::json::object& patch);

// The patch that makes `wanted` of `before`; empty when they are equal. A null in `wanted` cannot
// be said by a patch: such a member is taken away.
boost::json::object merge_patch_between(const boost::json::object& before,
                                        const boost::json::object& wanted);

}  // namespace davit::kubernetes
