// Pages of records or statuses. A page has one statement for each combination of kind and region,
// so that each uses the right index. Throws Faults.
#pragma once

#include <functional>

#include "davit/storage.hpp"
#include "session.hpp"

namespace davit::storage_postgres {

// The rows of a page, which the server has cut.
struct Rows {
  pqxx::result rows;
  bool more = false;  // the limit or the bytes have cut it
};

class PageStatements {
 public:
  // `sql` makes a statement from the conditions of its scope, such as " AND kind = $6". Its last
  // column says how many rows there are without the cut. `parameters`: of the statement without a
  // scope.
  PageStatements(const std::string& name, int parameters,
                 const std::function<std::string(const std::string& scope)>& sql);

  // `values` are those of the parameters without the scope.
  Rows read(Session& session, Values values, const Scope& scope) const;

 private:
  const BuiltStatement all_, of_kind_, of_region_, of_both_;
};

}  // namespace davit::storage_postgres
