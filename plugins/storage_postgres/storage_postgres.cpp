#include "storage_postgres.hpp"

DAVIT_PLUGIN(davit::storage_postgres::StoragePostgres, "storage_postgres", DAVIT_PLUGIN_VERSION,
             "keeps desired state and statuses in a PostgreSQL database")
