// The kind's answer: what is applied, what is deleted, and the status. Pure: JSON in, JSON out.
#pragma once

#include <string>
#include <string_view>

#include <davit/kind.hpp>

#include "site.hpp"

namespace davit::cluster_record {

Result<std::string> reconcile(std::string_view input, const Site&);
// NOT_FOUND: no Cluster of a record.
Result<Named> attribute(std::string_view object);

}  // namespace davit::cluster_record
