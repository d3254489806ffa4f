// Names of the other end of a socket, and the address under which its connections are limited.
#pragma once

#include <string>
#include <string_view>

namespace davit::host {

// The peer as a URI: "ipv4:10.1.2.3:5000", "ipv6:%5B2001:db8::1%5D:5000". Empty if `fd` is not a
// connected TCP socket.
std::string peer_name(int fd);

// The address under which a peer's connections are counted: "10.1.2.3" for IPv4. For IPv6 it is the
// network of 64 bits, because one customer has a whole network ("2001:db8:1:2::/64"). Any other
// name is an address of its own ("unix:root").
std::string address_of(std::string_view peer);

// Whether only this machine can reach a listener on this address ("0.0.0.0:7070", "[::1]:7070",
// "host:7070").
bool is_loopback(std::string_view listen);

}  // namespace davit::host
