// storage_postgres with one difference (numbering.cpp), under a name of its own. Only the torture
// loads it.
#include "storage_postgres.hpp"

DAVIT_PLUGIN(davit::storage_postgres::StoragePostgres, "storage_sequence", DAVIT_PLUGIN_VERSION,
             "loses changes, as a store does whose numbers come from a sequence")
