#include "pages.hpp"

#include "text_form.hpp"

namespace davit::storage_postgres {
namespace {

std::string condition(const char* column, int parameter) {
  return std::string(" AND ") + column + " = $" + std::to_string(parameter);
}

}  // namespace

PageStatements::PageStatements(const std::string& name, int parameters,
                               const std::function<std::string(const std::string& scope)>& sql)
    : all_(name + "_of_all", sql("")),
      of_kind_(name + "_of_kind", sql(condition("kind", parameters + 1))),
      of_region_(name + "_of_region", sql(condition("region", parameters + 1))),
      of_both_(name + "_of_both",
               sql(condition("kind", parameters + 1) + condition("region", parameters + 2))) {}

Rows PageStatements::read(Session& session, Values values, const Scope& scope) const {
  const bool kind = !scope.kind.empty(), region = !scope.region.empty();
  if (kind) values.emplace_back(scope.kind);
  if (region) values.emplace_back(scope.region);
  const BuiltStatement& statement = kind && region ? of_both_
                                    : kind         ? of_kind_
                                    : region       ? of_region_
                                                   : all_;
  Rows out{session.ask(statement, values), false};
  if (out.rows.empty()) return out;
  const auto found = out.rows[0][out.rows.columns() - 1];
  out.more = to_number(found.c_str()) > static_cast<uint64_t>(out.rows.size());
  return out;
}

}  // namespace davit::storage_postgres
