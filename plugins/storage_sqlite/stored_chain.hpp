#pragma once

#include "davit/storage_chain.hpp"

namespace davit::storage_sqlite {

class Connection;

// What the database has of its chain; empty when nothing was ever written.
storage::Chain stored_chain(Connection& connection);

}  // namespace davit::storage_sqlite
