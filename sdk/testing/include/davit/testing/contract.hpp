// What a plugin's descriptor and its roles' tables must have before anybody calls them. Nothing
// here calls the plugin.
#pragma once

#include "module.hpp"

namespace davit::testing {

// What is wrong with a plugin's descriptor, one line each: its size, its slots, its minor. `note`
// may be NULL.
std::vector<std::string> faults(const davit_plugin* plugin, const Note* note = nullptr);

// The roles that are judged here: "davit.storage/1" and so on.
std::vector<std::string> judged_roles();

// What is wrong with a role's table, one line each: it is too short, or a slot that is not optional
// is NULL. Of a role that is not known here nothing is wrong.
std::vector<std::string> faults(std::string_view role, const void* table);

}  // namespace davit::testing
