// Heads between HTTP and what the RPC layer makes of them.
#pragma once

#include "http_stream.hpp"
#include "request_head.hpp"

namespace davit::host {

RequestHead request_head(const HttpStream&);
// The whole answer, with its length.
void send_answer(HttpStream&, const HttpAnswer&);
// A value of printable ASCII: it may end up in log lines and names.
bool is_legal_header(const Pairs::value_type& header);
// Neither the credentials nor what is about the transport; a header that is there more than once is
// one list.
Pairs for_the_method(const Pairs& headers);

}  // namespace davit::host
