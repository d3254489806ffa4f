// The schema in the database: which version it has, whether the tables are as the steps made them,
// and the steps that bring it to the newest version. Throws Faults.
#pragma once

#include "schema_steps.hpp"
#include "session.hpp"

namespace davit::storage_postgres {

// What was found.
struct SchemaState {
  bool exists = false;  // there is something in the schema
  bool ours = false;    // and Davit made it
  int version = 0;
};

class Schema {
 public:
  explicit Schema(std::string name, const std::vector<SchemaStep>& steps = schema_steps())
      : name_(std::move(name)), steps_(steps) {}

  int newest() const { return static_cast<int>(steps_.size()); }
  SchemaState look(Session& session) const;
  // Whether this code can work with the schema: it has the version, nobody altered a table, and the
  // role has the rights. `command` is what makes an older or missing one.
  Result<> check(Session& session) const;
  // Whether the role may make a schema that does not exist.
  Result<> may_create(Session& session) const;
  // Makes the missing steps in one transaction. With `dry_run` it makes and undoes them, so that
  // what would fail fails. Returns the steps, one line each; none: there was nothing to do.
  // UNAVAILABLE: a server works with the store. A dry run then only lists the steps, and says so:
  // the locks of the steps would keep the server from working.
  Result<std::vector<std::string>> migrate(Session& session, bool dry_run,
                                           Patience patience = {}) const;

 private:
  Result<> judge(const SchemaState& state) const;
  std::vector<std::string> shape(Session& session) const;       // as it is
  std::vector<std::string> made_shape(Session& session) const;  // as the steps have made it
  Result<> altered(Session& session) const;
  Result<> rights(Session& session) const;
  Result<> have_alone(Session& session, const SchemaState& state) const;
  std::vector<std::string> missing_steps(const SchemaState& state) const;
  void make_missing(Session& session, const SchemaState& state) const;
  void make_step(Session& session, int version) const;

  const std::string name_;
  const std::vector<SchemaStep>& steps_;
};

}  // namespace davit::storage_postgres
