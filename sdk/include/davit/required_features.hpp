// The words of `required_features` in the requests of davit.v1: what the caller must be sure that
// the server does not ignore. The plugins that serve requests check them before anything else.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "types.hpp"

namespace davit {

// UNIMPLEMENTED, with the first word that is not known. davit.v1 of 1.0 knows none: a word comes
// with the feature that it is about. `known`: those that the method heeds.
template <class Words>
Result<> refuse_unknown_features(const Words& required,
                                 std::initializer_list<std::string_view> known = {}) {
  for (const std::string& word : required) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    return Error{Code::unimplemented,
                 "\"" + word.substr(0, 64) +
                     "\" is not known to this server: upgrade the server before its peers",
                 "required_features"};
  }
  return {};
}

}  // namespace davit
