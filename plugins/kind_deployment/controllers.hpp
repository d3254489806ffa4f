// What runs the pods of a workload: a ReplicaSet, a Deployment or a StatefulSet. A site says which
// of them it allows, and a record which it wants. When that changes, the new controller is made
// beside the old one, and the old one is retired once the pods of the new one suffice. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/fwd.hpp>

#include "kubernetes/pod.hpp"
#include "rollout.hpp"

namespace davit::deployment {

struct Observed;

enum class Controller { replica_set, deployment, stateful_set };
inline constexpr Controller all_controllers[] = {Controller::replica_set, Controller::deployment,
                                                 Controller::stateful_set};

// The word of the setting `controllers`, of the field `controller` and of the label of pods.
const char* word_of(Controller);
std::optional<Controller> controller_of_word(std::string_view word);
std::string controllers_fault(std::string_view word);  // of a word that names none
const char* kind_of(Controller);                       // "ReplicaSet"
const char* resource_of(Controller);                   // "replicasets"
const char* spoken(Controller);                        // "replica set", for people

// Which controller made the pod, by its label. The pods of a ReplicaSet have no such label, so that
// those of Krane's are its own.
Controller maker_of(const kubernetes::Pod&);

// How the change from other controllers to the wanted one stands.
struct Change {
  bool others = false;        // there are others, perhaps on their way out
  bool retire = false;        // the wanted one carries the load: the others may go
  std::string waits;          // else: what the others wait for, for people
  int64_t look_again_ms = 0;  // when time alone changes the answer; 0: never
};

// The pods of a StatefulSet that is gone, without having been adopted by another one.
std::vector<std::string> orphaned_pods(const Observed&);

// The others go when as many pods of the wanted one as are wanted are available, or when none of
// theirs is ready. `stale` of the pods must be set: only pods that are not stale are of the wanted
// controller and template.
Change change_to(Controller wanted, const Observed&, int64_t replicas, const Pace&);

// What of the rendered spec a controller that is there cannot take over: "serviceName". Empty:
// nothing. The applier then deletes the object and makes it anew.
std::string cannot_change(const boost::json::object& wanted_spec, const boost::json::object* there);

// Deletes the controllers other than `wanted`, and the orphaned pods that it does not adopt. The
// cluster's garbage collection deletes the pods of the controllers.
void remove_others(std::optional<Controller> wanted, const Observed&, boost::json::array& out);

}  // namespace davit::deployment
