#include "conditions.hpp"

namespace davit::host {

const std::vector<Condition>& conditions() {
  static const std::vector<Condition> all = {
      {"parked",
       "The agent cannot apply this version of the record, and trying again would not help: the "
       "cluster refuses it, or its object belongs to somebody else. Other records are not held up.",
       "Read the reason and apply a corrected document, or remove what stands in the way and apply "
       "the record again."},
      {"held",
       "The record exists, but the server does not send its content: its kind is not loaded there, "
       "or its state is one that the kind does not handle. The agent leaves the object as it is.",
       "Load the kind in the server's configuration, or apply the record with a state that the "
       "kind "
       "knows."},
      {"orphaned",
       "The object carries our mark, but the store names no record for it, and nobody deleted that "
       "record as far as the store knows: it was emptied or restored. The object is left alone.",
       "If it should stay, apply its document again. If not, delete it in the cluster with "
       "kubectl."},
      {"delayed",
       "The agent cannot send its statuses as fast as they come, or not at all: what status shows "
       "may be old. Desired state is applied all the same.",
       "Look at the server's log and load, and at the network between the two; the reason says how "
       "many statuses wait."},
      {"blind",
       "The agent cannot see a resource in its cluster: the API server is away, or refuses its "
       "list "
       "or watch (401, 403). What it last said of such objects may not be true any more.",
       "Grant the right that the reason names (`davit check` names all that are missing), or get "
       "the API server back."},
      {"unknown",
       "Nobody says at present how the object is: its agent is silent or blind, or no agent of the "
       "region has reported yet. The counts are the last that were heard.",
       "See the agent's line in `davit status`: start it, or do what its own condition asks for."},
  };
  return all;
}

}  // namespace davit::host
