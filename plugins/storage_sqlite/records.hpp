// Reads records, within a transaction that the caller has begun.
#pragma once

#include "connection.hpp"
#include "davit/storage.hpp"
#include "davit/storage_chain.hpp"

namespace davit::storage_sqlite {

Head read_head(Connection& connection, const storage::Chain& chain);

// A cursor that is out of range (abi/storage.h) becomes the connection's failure. It is checked in
// the same snapshot as the records.
Page read_page(Connection& connection, const storage::Chain& chain, const ReadRequest& request,
               const storage::VisitRecord& visit);

Head get_records(Connection& connection, const storage::Chain& chain, const GetRequest& request,
                 const storage::VisitRecord& visit);

}  // namespace davit::storage_sqlite
