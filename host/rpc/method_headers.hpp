// The headers of a request that its method gets. Both transports use it.
#pragma once

#include <davit/types.hpp>

namespace davit::host {

// Leaves out credentials and the headers of HTTP, of the protocol and of libraries: a stream would
// keep them in memory for days. A text header that is given more than once becomes one list, as in
// HTTP. Of a binary header (a name that ends in "-bin") the first value counts. Binary values are
// bytes, and names are in lower case.
Pairs headers_for_the_method(Pairs headers);

}  // namespace davit::host
