// What goes wrong with a statement. libpqxx throws, so the code between a Session and the Database
// throws, too: a Fault has the error for the caller, and what the Database has to know about it.
// The Database turns it into a Result; none leaves it.
#pragma once

#include <exception>

#include "davit/types.hpp"

namespace davit::storage_postgres {

class Fault : public std::exception {
 public:
  enum class Kind {
    other,
    lost,      // the connection is gone; nothing was committed unless this was the commit
    stopped,   // the statement was cancelled, or its time was over
    waited,    // another session held a lock for too long
    conflict,  // nothing has changed, and the same transaction may be tried again at once
  };
  Fault(Kind kind, Error error) : kind_(kind), error_(std::move(error)) {}
  explicit Fault(Error error) : Fault(Kind::other, std::move(error)) {}

  Kind kind() const { return kind_; }
  const Error& error() const { return error_; }
  const char* what() const noexcept override { return error_.message.c_str(); }

 private:
  Kind kind_;
  Error error_;
};

// What the server's error means. `sqlstate` is one of
// https://www.postgresql.org/docs/current/errcodes-appendix.html, `words` the server's text.
Fault fault_of(const std::string& sqlstate, const std::string& words);

// The first line of a text of the server or of libpq, without its end.
std::string first_line(std::string_view words);

}  // namespace davit::storage_postgres
