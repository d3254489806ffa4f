// Converts heads between an HTTP stream and the RPC layer. ConnectServer and ConnectServedCall use
// it.
#pragma once

#include "http_stream.hpp"
#include "request_head.hpp"

namespace davit::host {

RequestHead request_head(const HttpStream&);
// Sends a whole answer, with its length.
void send_answer(HttpStream&, const HttpAnswer&);
// Whether the value is printable ASCII. Values may end up in log lines and names.
bool is_legal_header(const Pairs::value_type& header);

}  // namespace davit::host
