#include "storage_naive.hpp"

DAVIT_PLUGIN(davit::storage_naive::StorageNaive, "storage_naive", DAVIT_PLUGIN_VERSION,
             "keeps records in maps, rightly or wrongly")
