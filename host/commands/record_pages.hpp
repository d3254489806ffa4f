// Lists records of the desired state from a server, page by page.
#pragma once

#include <functional>

#include <davit/v1/operator.pb.h>

#include "operator_client.hpp"

namespace davit::host {

// Calls `see` for each page of what the request asks for, until it returns false or an error, which
// is returned. The page is the callee's to change.
Result<> list_records(OperatorClient& client, v1::ListRequest request,
                      const std::function<Result<bool>(v1::ListResponse&)>& see);

}  // namespace davit::host
