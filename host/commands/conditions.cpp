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
       "record as far as the store knows: it was emptied or restored. Or so many are missing at "
       "once that the agent takes it for a mistake. The object is left alone.",
       "If it should stay, apply its document again. If not, confirm it: `davit delete KIND ID "
       "--region REGION`, or `--orphaned` instead of ID for all of the kind; `--dry-run` says what "
       "goes. One without an id is deleted in the cluster with kubectl."},
      {"delayed",
       "Of an agent: it cannot send its statuses as fast as they come, or not at all, and what "
       "status shows may be old. Of a record: its delete waits until the agent sees what is there. "
       "Desired state is applied all the same.",
       "Of an agent: look at the server's log and load, and at the network between the two. Of a "
       "record: the reason names what the agent does not see; see `davit explain blind`."},
      {"blind",
       "The agent cannot see a resource in its cluster: the API server is away, or refuses its "
       "list "
       "or watch (401, 403). What it last said of such objects may not be true any more.",
       "Grant the right that the reason names (`davit check` names all that are missing), or get "
       "the API server back."},
      {"denied",
       "The account of the agent in its cluster lacks a right that a kind needs. Whatever does not "
       "need it goes on.",
       "Grant the right that the reason names (verb, resource and group), or turn off the setting "
       "of the kind that needs it; its README says which."},
      {"missing",
       "The agent's cluster lacks something that a kind needs: a custom resource's definition, an "
       "API, or an object such as a RuntimeClass. Records that need it wait or have no pods; the "
       "rest goes on.",
       "Install it, or turn off the setting that the reason names."},
      {"retrying",
       "The agent cannot apply the record's present version yet and goes on trying. What status "
       "shows of it may be of the version before.",
       "Read the reason: it is what the cluster answered last. Other records are not held up."},
      {"contested",
       "Somebody else keeps changing an object that the agent puts right: another controller, a "
       "person, or a second agent with other settings. It is put right at growing intervals.",
       "Stop the other writer, whom the reason names, or change the record to what it wants."},
      {"unwatched", "No agent of the record's region has ever said how far it is with this kind.",
       "Load the kind's plugin in the agent's configuration."},
      {"unattended",
       "The region has records, and no agent of it is there, or all have been silent for 90 "
       "seconds.",
       "Start the region's agent, or look at its log and at the network between the two."},
      {"contended",
       "Two agents of the region are at work, and neither knows of the other: each undoes what the "
       "other does if their settings differ.",
       "Stop one of them, or give both the plugin `leader`."},
      {"more",
       "The agent has more conditions to tell of than the server keeps or than one message can "
       "carry.",
       "Mend what the others say; the limit is `issues_per_agent_max` of the server's recorder."},
      {"unknown",
       "Nobody says at present how the object is: its agent is silent or blind, or no agent of the "
       "region has reported yet. The counts are the last that were heard.",
       "See the agent's line in `davit status`: start it, or do what its own condition asks for."},
  };
  return all;
}

}  // namespace davit::host
