// The words that `davit status` shows for records, agents and regions: what each means, and what to
// do about it. `davit explain` prints these texts. README.md repeats them, and a test compares.
#pragma once

#include <array>
#include <string_view>

namespace davit::host {

struct Condition {
  std::string_view name;   // as `davit status` shows it
  std::string_view means;  // whole sentences, as in to_do
  std::string_view to_do;
};

inline constexpr std::array conditions = {
    Condition{"parked",
              "The agent cannot apply this version of the record, and trying again would not help: "
              "the cluster refuses it, or its object belongs to somebody else. Other records are "
              "not held up.",
              "Read the reason and apply a corrected document, or remove what stands in the way "
              "and say so with `davit apply --again`."},
    Condition{"held",
              "The record exists, and the agent leaves its object as it is: the annotation "
              "`davit.dev/pause` asks for that, or the server does not send the record's content, "
              "because its kind is not loaded there or does not handle its state.",
              "Take the annotation away, load the kind in the server's configuration, or apply the "
              "record with a state that the kind knows."},
    Condition{
        "orphaned",
        "The object carries our mark, but the store names no record for it, and nobody deleted "
        "that record as far as the store knows: it was emptied or restored. Or so many are missing "
        "at once that the agent takes it for a mistake. The object is left alone.",
        "If it should stay, apply its document again. If not, confirm it: `davit delete KIND ID "
        "--region REGION`, or `--orphaned` instead of ID for all of the kind; `--dry-run` says "
        "what goes. Delete an object without an id with kubectl."},
    Condition{
        "delayed",
        "Of an agent: it cannot send its statuses as fast as they come, or not at all, and what "
        "status shows may be old. Of a record: its delete waits until the agent sees what is "
        "there, or its kind cannot say now what the record asks for, on the server or on the "
        "agent. Nothing is parked, and the rest goes on.",
        "Of an agent: look at the server's log and load, and at the network between the two. Of a "
        "record: the reason names what the agent does not see (see `davit explain blind`), or the "
        "kind and since when it has no answer: look at what its plugin needs."},
    Condition{
        "blind",
        "The agent cannot see a resource in its cluster: the API server is away, or refuses its "
        "list or watch (401, 403). What it last said of such objects may not be true any more.",
        "Grant the right that the reason names (`davit check` names all that are missing), or get "
        "the API server back."},
    Condition{"denied",
              "The account of the agent in its cluster lacks a right that a kind needs. Whatever "
              "does not need it goes on.",
              "Grant the right that the reason names (verb, resource and group), or turn off the "
              "setting of the kind that needs it; its README says which."},
    Condition{"missing",
              "The agent's cluster lacks something that a kind needs: a custom resource's "
              "definition, an API, or an object such as a RuntimeClass. Records that need it wait "
              "or have no pods; the rest goes on.",
              "Install it, or turn off the setting that the reason names."},
    Condition{
        "retrying",
        "The agent cannot apply the record's present version yet and goes on trying. What status "
        "shows of it may belong to the version before.",
        "Read the reason: it is what the cluster answered last. Other records are not held up."},
    Condition{
        "contested",
        "Somebody else keeps changing an object that the agent puts right: another controller, a "
        "person, or a second agent with other settings. It is put right at growing intervals.",
        "Stop the other writer, whom the reason names, or change the record to what it wants."},
    Condition{"unwatched",
              "No agent of the record's region has ever said how far it is with this kind.",
              "Load the kind's plugin in the agent's configuration."},
    Condition{"unattended",
              "The region has records, and no agent of it is there, or all have been silent for 90 "
              "seconds.",
              "Start the region's agent, or look at its log and at the network between the two."},
    Condition{"contended",
              "Two agents of the region are at work, and neither knows of the other: each undoes "
              "what the other does if their settings differ.",
              "Stop one of them, or give both the plugin `leader`."},
    Condition{"more",
              "The agent has more issues than the server keeps or than one message can carry.",
              "Deal with the issues that are shown; the limit is `issues_per_agent_max` of the "
              "server's recorder."},
    Condition{
        "unknown",
        "No agent reports the object's state at present: its agent is silent or blind, or no agent "
        "of the region has reported yet. The counts are the last that were reported. Of an agent's "
        "statuses: it was silent for 90 seconds.",
        "See the agent's line in `davit status`: start it, or do what its own condition asks "
        "for. `unknown since TIME` names what the agent does not see."},
    Condition{"taken over",
              "Another agent of the region began later and has taken the place of this one, whose "
              "silence is no fault any more.",
              "Nothing. If it will not come back, `davit agent forget REGION AGENT` takes the line "
              "away."},
    Condition{"in time",
              "The agent was heard of in the last 90 seconds, and sends its statuses as they come.",
              "Nothing."},
    Condition{
        "healthy",
        "All that the record wants runs at the version that the agent observed, and is ready.",
        "Nothing. While OBSERVED is below VERSION the agent has not applied the newest version "
        "yet."},
    Condition{
        "progressing",
        "A rollout is under way: pods are missing, are not ready yet, or are of an older template.",
        "Wait. If it stays, the reason says what the pods wait for."},
    Condition{
        "unhealthy",
        "What runs fails in a way that waiting does not cure: pods crash or cannot start and "
        "fewer are ready than the record wants, the cluster takes a policy for invalid, or an "
        "actuator fails to build or to remove a cluster.",
        "Read the reason, look at the pods with `kubectl describe` and `kubectl logs`, and "
        "apply a corrected document."},
    Condition{"paused",
              "The record wants nothing to run: it has no replicas. Or it wants its cluster left "
              "alone.",
              "Nothing, or apply it with replicas, or without the pause."},
    Condition{"gone", "Nothing of the object is left in the cluster, as its record wants it.",
              "Nothing. The record is purged when it has been dead for `purge_retention_ms`."},
};

// A word that status prints. A word that `davit explain` does not know is a compile error.
consteval std::string_view explained(std::string_view word) {
  for (const Condition& c : conditions) {
    if (c.name == word) return c.name;
  }
  throw "davit explain does not know this word: give it a text above";
}

}  // namespace davit::host
