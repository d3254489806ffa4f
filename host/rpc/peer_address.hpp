// The other end of a socket, as text.
#pragma once

#include <string>
#include <string_view>

namespace davit::host {

// In gRPC's words: "ipv4:10.1.2.3:5000", "ipv6:%5B2001:db8::1%5D:5000". Empty: no connected TCP
// socket.
std::string peer_name(int fd);

// What counts as one address where the connections of each are limited: "10.1.2.3"; of IPv6 the
// network of 64 bits, for that is what one customer has ("2001:db8:1:2::/64"). Any other name is an
// address of its own ("unix:root").
std::string address_of(std::string_view peer);

// Whether an address to listen on ("0.0.0.0:7070", "[::1]:7070", "host:7070") can be reached from
// other machines only by way of this one.
bool is_loopback(std::string_view listen);

}  // namespace davit::host
