#include "connection.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>

namespace davit::host {

namespace asio = boost::asio;

namespace {
// Buffer kept from the last write. A connection that is silent for days keeps no more.
constexpr size_t kept_bytes_max = 4u << 10;
}  // namespace

Connection::Connection(std::unique_ptr<Link> link, Patience patience, Choose choose, Closed closed,
                       std::function<void()> ready)
    : link_(std::move(link)),
      patience_(patience),
      choose_(std::move(choose)),
      closed_(std::move(closed)),
      ready_(std::move(ready)),
      since_(std::chrono::steady_clock::now()),
      heard_(since_),
      idle_since_(since_) {}

Connection::~Connection() = default;

void Connection::start() {
  link_->handshake([self = shared_from_this()](boost::system::error_code e) { self->shaken(e); });
}

void Connection::shaken(boost::system::error_code e) {
  if (!closed_) return;
  if (e) {
    // A peer that disconnects during the handshake has sent nothing wrong.
    strange_ = e.category() == asio::error::get_ssl_category();
    return close("TLS: " + e.message());
  }
  // A client begins before it has received anything.
  if (!feed({})) return close("the peer does not offer HTTP/2");
  read();
}

void Connection::read() {
  if (!closed_ || reading_ || ending_) return;
  if (session_ && session_->is_full()) return;
  reading_ = true;
  link_->read_some(asio::buffer(in_),
                   [self = shared_from_this()](boost::system::error_code e, size_t n) {
                     self->reading_ = false;
                     self->received(e, n);
                   });
}

void Connection::received(boost::system::error_code e, size_t n) {
  if (!closed_) return;
  if (e) return close(e == asio::error::eof ? "the peer has closed the connection" : e.message());
  heard_ = std::chrono::steady_clock::now();
  asked_ = {};
  if (!feed({in_.data(), n})) ending_ = true;  // what is left to send is still sent
  if (ending_ && !writing_ && !session_) return close("the peer does not speak HTTP");
  read();
  wake();
}

bool Connection::feed(std::string_view bytes) {
  if (session_) return session_->receive(bytes);
  begin_ += bytes;
  bool refused = false;
  session_ = choose_(begin_, refused);
  if (refused) return false;
  if (!session_) return true;
  if (leaving_) session_->go_away();
  wake();
  if (ready_) ready_();
  return session_ && session_->receive(std::exchange(begin_, {}));
}

void Connection::wake() {
  if (std::exchange(woken_, true)) return;
  asio::post(link_->executor(), [self = shared_from_this()] {
    self->woken_ = false;
    self->pump();
  });
}

void Connection::pump() {
  if (!closed_ || !session_) return;
  read();  // the session may have room again
  if (writing_) return;
  out_.clear();
  session_->give(out_);
  if (out_.empty()) {
    if (out_.capacity() > kept_bytes_max) std::string().swap(out_);
    if (ending_ || session_->is_over()) close("");
    return;
  }
  writing_ = true;
  writing_since_ = std::chrono::steady_clock::now();
  link_->write(asio::buffer(out_),
               [self = shared_from_this()](boost::system::error_code e, size_t) {
                 self->writing_ = false;
                 self->wrote(e);
               });
}

void Connection::wrote(boost::system::error_code e) {
  if (!closed_) return;
  if (e) return close(e.message());
  session_->written();
  pump();
}

void Connection::tick(Time now) {
  if (!closed_) return;
  if (!session_ || !session_->is_begun()) {
    if (now - since_ > patience_.begin) close("the peer does not speak HTTP");
    return;
  }
  session_->tick();
  // The kernel and TLS buffer what they can. A peer that reads nothing shows as a write that does
  // not end.
  if (writing_ && now - writing_since_ > patience_.interval + patience_.timeout)
    return close("the peer does not take what it is sent");
  if (session_->streams() > 0) idle_since_ = now;
  const auto rest = known_ ? patience_.rest : patience_.first;
  if (rest.count() > 0 && now - idle_since_ > rest) return leaving_ ? close("") : go_away();
  if (asked_ != Time()) {
    if (now - asked_ > patience_.timeout) close("the peer does not answer");
  } else if (now - heard_ > patience_.interval && session_->ping()) {
    asked_ = now;
  }
}

bool Connection::is_idle_stranger(Time now) const {
  constexpr std::chrono::seconds time_to_call{1};
  return !known_ && now - since_ > time_to_call && (!session_ || session_->streams() == 0);
}

void Connection::go_away() {
  leaving_ = true;
  if (session_) session_->go_away();
}

void Connection::close(const std::string& why) {
  if (!closed_) return;
  const auto self = shared_from_this();
  const auto closed = std::exchange(closed_, nullptr);
  link_->close();
  if (session_) session_->lost(why.empty() ? "the connection is closed" : why);
  closed(why, strange_);
}

}  // namespace davit::host
