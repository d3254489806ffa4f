#include "movable.hpp"

DAVIT_PLUGIN(davit::storage_naive::Movable, "storage_naive", DAVIT_PLUGIN_VERSION,
             "keeps records in maps, rightly or wrongly")
