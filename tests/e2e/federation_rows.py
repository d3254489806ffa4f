"""The tables of the reference, row by row: what the syncer of Cloud Robotics Core does, and where ours differs on purpose.

The numbers are the sections of the reference: 3 annotations, 4 which fields travel, 5 what comes from upstream, 6 what
comes from downstream, 7 deletion, orphans and recreation. federation_steps.py explains the words. Each row of FIELDS,
DOWNWARDS, UPWARDS and LIVES is played with both values of spec-source, `cloud` and `robot` (section 3.3).
"""

from federation_parts import REMOTE_VERSION, ROBOT, UPSTREAM_UID
from federation_steps import ABSENT, DOWN, MINE, OTHERS, SETTLED, START, STOP, UP, Row, Side

ROBOTS = Side("ROBOT")  # the cluster of the robot, whose definitions say what takes part
BOTH = ("missions", "charts")           # with and without the subresource /status
ALL = (*BOTH, "sites")                  # and without namespaces
SUBTREES = ("parts", "pieces")          # status-subtree "robot", with and without the subresource
HOLD = ["example.com/hold"]
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def of_its_own(o):
    """Nothing of upstream's bookkeeping."""
    return "generateName" not in o["metadata"] and REMOTE_VERSION not in o["metadata"].get("annotations", {})


def generation(expected):
    """observedGeneration upstream."""
    return lambda o: o.get("status", {}).get("observedGeneration") == expected(o)


def unseen(o):
    return 0


def seen(o):
    return o["metadata"]["generation"]


FIELDS = [
    Row("4", "name, namespace, kind and spec are copied; resourceVersion, uid and generateName are not", ALL,
        UP.makes(spec={"a": [1, None, "x"]}, generate="o-"), DOWN.has(spec={"a": [1, None, "x"]}, where=of_its_own)),
    Row("4", "spec may be any JSON value", BOTH, UP.makes(spec="text"), DOWN.has(spec="text"),
        UP.edits(spec=[1, 2.5, True]), DOWN.has(spec=[1, 2.5, True])),
    Row("4", "labels on create: copied", ALL, UP.makes(labels={"a": "1"}, spec=1), DOWN.has(labels={"a": "1"})),
    Row("4", "labels on update: replaced, those that were added downstream vanish", ALL,
        UP.makes(labels={"a": "1"}, spec=1), DOWN.has(labels={"a": "1"}), DOWN.edits(labels={"own": "x"}),
        UP.edits(labels={"a": None, "b": "2"}), DOWN.has(labels={"b": "2"}, same=True)),
    Row("4", "labels: never upwards", BOTH, UP.makes(labels={"a": "1"}, spec=1), DOWN.has(), DOWN.edits(labels={"x": "y"}),
        SETTLED, UP.has(labels={"a": "1"})),
    Row("4", "annotations on create: copied, without the bookkeeping", ALL,
        UP.makes(annotations={"a": "1", REMOTE_VERSION: "7"}, spec=1), DOWN.has(annotations={"a": "1"}, where=of_its_own)),
    Row("4", "annotations on update: replaced, kubectl's last-applied too", ALL,
        UP.makes(annotations={"a": "1", APPLIED: "{}"}, spec=1), DOWN.has(annotations={"a": "1", APPLIED: "{}"}),
        DOWN.edits(annotations={"own": "x"}), UP.edits(annotations={"a": None, "b": "2", APPLIED: "{ }"}),
        DOWN.has(annotations={"b": "2", APPLIED: "{ }"}, same=True)),
    Row("4", "annotations upwards: the bookkeeping alone", "missions", UP.makes(annotations={"a": "1"}, spec=1), DOWN.has(),
        DOWN.edits(annotations={"own": "x"}), DOWN.reports("s"), UP.has(status="s", annotations={"a": "1"})),
    Row("4", "annotations downwards", BOTH, UP.makes(spec=1), DOWN.has(where=lambda o: o["metadata"].get(
        "annotations", {}).get(UPSTREAM_UID)), differs="davit.dev/upstream-uid names the upstream object"),
    Row("4", "finalizers: not copied", ALL, UP.makes(spec=1, finalizers=HOLD), DOWN.has(finalizers=[])),
    Row("4", "finalizers on update: downstream's kept, and never upwards", BOTH, UP.makes(spec=1), DOWN.has(),
        DOWN.edits(finalizers=HOLD), UP.edits(spec=2), DOWN.has(spec=2, finalizers=HOLD, same=True), DOWN.reports("s"),
        UP.has(status="s", finalizers=[]), DOWN.edits(finalizers=[])),
    Row("4", "owners: not copied", BOTH, UP.makes(spec=1, owners=["u"]), DOWN.has(owners=[])),
    Row("4", "owners on update: downstream's kept, and never upwards", BOTH, UP.makes(spec=1), DOWN.has(),
        DOWN.edits(owners=["d"]), UP.edits(spec=2), DOWN.has(spec=2, owners=["d"], same=True), UP.has(owners=[])),
    Row("4", "spec on update: replaced whole", ALL, UP.makes(spec={"a": 1, "b": 2}), DOWN.has(spec={"a": 1, "b": 2}),
        UP.edits(spec={"b": None, "c": 3}), DOWN.has(spec={"a": 1, "c": 3}, same=True)),
    Row("4", "spec: never upwards", BOTH, UP.makes(spec={"a": 1}), DOWN.has(), DOWN.edits(spec={"a": 7}), SETTLED,
        UP.has(spec={"a": 1})),
    Row("4", "status on create: copied once, where it is a field like others", "charts",
        UP.makes(spec=1, status={"old": 1}), DOWN.has(status={"old": 1})),
    Row("4", "status on create: dropped by the server, where it is a subresource", "missions", UP.makes(spec=1),
        UP.reports({"old": 1}), DOWN.has(status=ABSENT)),
    Row("4", "status on update: downstream's kept", BOTH, UP.makes(spec=1), DOWN.has(), DOWN.reports({"a": 1}),
        UP.edits(spec=2), DOWN.has(spec=2, status={"a": 1}, same=True)),
    Row("4", "other fields: not copied", BOTH, UP.makes(spec=1, data={"a": "b"}), DOWN.has(spec=1, data=ABSENT)),
    Row("4", "other fields on update: downstream's kept, and never upwards", BOTH, UP.makes(spec=1), DOWN.has(),
        DOWN.edits(data={"own": 1}), UP.edits(spec=2), DOWN.has(spec=2, data={"own": 1}, same=True), UP.has(data=ABSENT)),
    Row("4", "a spec that is absent upstream", BOTH, UP.makes(), DOWN.has(spec=ABSENT), UP.edits(spec=1), DOWN.has(spec=1),
        UP.edits(spec=None), DOWN.has(spec=ABSENT, same=True), differs="left out, and no JSON null"),
]

DOWNWARDS = [
    Row("5.1", "neither is there: nothing", BOTH, UP.makes(spec=1), DOWN.has(), UP.deletes(), DOWN.lacks(), SETTLED,
        UP.lacks(), DOWN.lacks()),
    Row("5.2", "upstream gone, downstream there: deleted", ALL, UP.makes(spec=1), DOWN.has(), UP.deletes(), DOWN.lacks()),
    Row("5.3", "upstream terminating: deleted, and the spec is not copied", BOTH, UP.makes(spec=1, finalizers=HOLD),
        DOWN.has(), UP.deletes(), DOWN.lacks(), UP.edits(spec=2), SETTLED, DOWN.lacks(), UP.has(terminating=True),
        UP.edits(finalizers=[]), UP.lacks()),
    Row("5.3", "upstream terminating, downstream terminating: waited for", BOTH, UP.makes(spec=1), DOWN.has(),
        DOWN.edits(finalizers=HOLD), UP.edits(finalizers=["example.com/up"]), UP.deletes(), DOWN.has(terminating=True),
        UP.edits(spec=2), SETTLED, DOWN.has(spec=1, terminating=True), DOWN.edits(finalizers=[]), DOWN.lacks(),
        UP.edits(finalizers=[])),
    Row("5.3", "upstream terminating, downstream absent: nothing is made", BOTH, STOP, UP.makes(spec=1, finalizers=HOLD),
        UP.deletes(), START, SETTLED, DOWN.lacks(), UP.edits(finalizers=[])),
    Row("5.4", "downstream absent: created", ALL, UP.makes(spec={"a": 1}), DOWN.has(spec={"a": 1})),
    Row("5.5", "both there: updated", ALL, UP.makes(spec=1), DOWN.has(spec=1), UP.edits(spec=2), DOWN.has(spec=2, same=True)),
    Row("5.5", "downstream terminating: updated, and made anew when it has gone", BOTH, UP.makes(spec=1), DOWN.has(),
        DOWN.edits(finalizers=HOLD), DOWN.deletes(), UP.edits(spec=2), DOWN.has(spec=2, terminating=True, same=True),
        DOWN.edits(finalizers=[]), DOWN.has(spec=2, terminating=False, anew=True)),
]

UPWARDS = [
    Row("6.1", "downstream gone: made anew from upstream", ALL, UP.makes(spec=1), DOWN.has(), DOWN.deletes(),
        DOWN.has(spec=1, anew=True)),
    Row("6.2", "no upstream: the orphan is deleted", ALL, DOWN.makes(spec=1), DOWN.lacks()),
    Row("6.2", "no upstream: an orphan that is held is deleted once, and waited for", BOTH,
        DOWN.makes(spec=1, finalizers=HOLD), DOWN.has(terminating=True), DOWN.edits(finalizers=[]), DOWN.lacks()),
    Row("6.3", "both there: the status goes up", ALL, UP.makes(spec=1), DOWN.has(), DOWN.reports({"at": "door"}),
        UP.has(status={"at": "door"}, spec=1, same=True)),
    Row("6.3", "upstream terminating: the status goes up", BOTH, UP.makes(spec=1, finalizers=HOLD), DOWN.has(),
        DOWN.edits(finalizers=HOLD), UP.deletes(), DOWN.has(terminating=True), DOWN.reports("late"),
        UP.has(status="late", terminating=True), DOWN.edits(finalizers=[]), UP.edits(finalizers=[])),
    Row("6.3", "downstream terminating: the status goes up", BOTH, UP.makes(spec=1), DOWN.has(), DOWN.edits(finalizers=HOLD),
        DOWN.deletes(), DOWN.reports("late"), UP.has(status="late"), DOWN.edits(finalizers=[])),
    Row("6.1 write", "with the subresource: spec, metadata and generation are not touched", "missions", UP.makes(spec=1),
        DOWN.has(), DOWN.reports("s"), UP.has(status="s", spec=1, where=lambda o: o["metadata"]["generation"] == 1
                                              and REMOTE_VERSION not in o["metadata"].get("annotations", {}))),
    Row("6.1 write", "without it: the bookkeeping says of which version the status is", "charts", UP.makes(spec=1), DOWN.has(),
        DOWN.reports("s"), UP.has(status="s", spec=1, where=lambda o: o["metadata"].get("annotations", {}).get(
            REMOTE_VERSION))),
    Row("6.2 whole", "any value: replaces upstream's status entirely", BOTH, UP.makes(spec=1), DOWN.has(),
        DOWN.reports({"a": 1, "b": {"c": [1]}}), UP.has(status={"a": 1, "b": {"c": [1]}}), DOWN.reports({"d": None}),
        UP.has(status={"d": None}), DOWN.reports([1, "x"]), UP.has(status=[1, "x"]), DOWN.reports("text"),
        UP.has(status="text"), DOWN.reports(7), UP.has(status=7), DOWN.reports({}), UP.has(status={})),
    Row("6.2 whole", "absent downstream", BOTH, UP.makes(spec=1), DOWN.has(), DOWN.reports({"a": 1}), UP.has(status={"a": 1}),
        DOWN.reports(None), SETTLED, UP.has(status={"a": 1}), differs="says nothing, so upstream's stays"),
    Row("6.2 subtree", "an object with it: it alone is replaced, siblings stay", SUBTREES, UP.makes(spec=1), DOWN.has(),
        UP.reports({"cloud": 1, "robot": 0}), DOWN.reports({"robot": {"x": 2}, "local": 3}),
        UP.has(status={"cloud": 1, "robot": {"x": 2}})),
    Row("6.2 subtree", "upstream has no status: it gets one", SUBTREES, UP.makes(spec=1), DOWN.has(),
        DOWN.reports({"robot": 2, "local": 3}), UP.has(status={"robot": 2})),
    Row("6.2 subtree", "an object without it: upstream's is removed", SUBTREES, UP.makes(spec=1), DOWN.has(),
        UP.reports({"cloud": 1}), DOWN.reports({"robot": 2}), UP.has(status={"cloud": 1, "robot": 2}),
        DOWN.reports({"local": 3}), UP.has(status={"cloud": 1})),
    Row("6.2 subtree", "an object with null: upstream's is removed", SUBTREES, UP.makes(spec=1), DOWN.has(),
        UP.reports({"cloud": 1}), DOWN.reports({"robot": 2}), UP.has(status={"cloud": 1, "robot": 2}),
        DOWN.reports({"robot": None}), UP.has(status={"cloud": 1})),
    Row("6.2 subtree", "absent downstream: nothing changes", SUBTREES, UP.makes(spec=1), DOWN.has(), UP.reports({"cloud": 1}),
        DOWN.reports({"robot": 2}), UP.has(status={"cloud": 1, "robot": 2}), DOWN.reports(None), SETTLED,
        UP.has(status={"cloud": 1, "robot": 2})),
    Row("6.2 subtree", "no object downstream: an error, of this object alone", SUBTREES, UP.makes(spec=1), DOWN.has(),
        DOWN.reports("text"), DOWN.is_stuck("the downstream status is not a JSON object"), SETTLED, UP.has(status=ABSENT),
        DOWN.reports({"robot": 2}), UP.has(status={"robot": 2}), differs="said once, and its next change is the cure"),
    Row("6.2 subtree", "no object upstream: an error, of this object alone", SUBTREES, UP.makes(spec=1), DOWN.has(),
        UP.reports("text"), DOWN.reports({"robot": 2}), UP.is_stuck("the upstream status is not a JSON object"), SETTLED,
        UP.has(status="text"), UP.reports({"cloud": 1}), UP.has(status={"cloud": 1, "robot": 2}),
        differs="said once, and its next change is the cure"),
    Row("6.3 generation", "downstream has observed its own: upstream's own number", ("missions", "sites"), UP.makes(spec=1),
        UP.edits(spec=2), DOWN.has(spec=2), DOWN.reports({"a": 1}, observes=0), UP.has(where=generation(seen))),
    Row("6.3 generation", "downstream is behind: 0", ("missions", "sites"), UP.makes(spec=1), DOWN.has(spec=1),
        DOWN.reports({"a": 1}, observes=1), UP.has(where=generation(unseen))),
    Row("6.3 generation", "a new spec: 0 until it is observed", ("missions", "sites"), UP.makes(spec=1), DOWN.has(spec=1),
        DOWN.reports(observes=0), UP.has(where=generation(seen)), UP.edits(spec=2), DOWN.has(spec=2),
        UP.has(where=generation(unseen)), DOWN.reports(observes=0), UP.has(where=generation(seen))),
    Row("6.3 generation", "no integer: copied verbatim", BOTH, UP.makes(spec=1), DOWN.has(),
        DOWN.reports({"observedGeneration": "x"}), UP.has(status={"observedGeneration": "x"}),
        DOWN.reports({"observedGeneration": 1.5}), UP.has(status={"observedGeneration": 1.5})),
    Row("6.3 generation", "a subtree: never touched", SUBTREES, UP.makes(spec=1), DOWN.has(),
        DOWN.reports({"robot": {"observedGeneration": 77}}), UP.has(status={"robot": {"observedGeneration": 77}})),
    Row("6.3 generation", "without the subresource a status counts as a new generation: 0", "charts", UP.makes(spec=1),
        DOWN.has(), DOWN.reports(observes=0), UP.has(where=generation(unseen))),
]

LIVES = [
    Row("7", "upstream deleted, robot online: downstream is deleted, upstream did not wait", ALL, UP.makes(spec=1), DOWN.has(),
        UP.deletes(), UP.lacks(), DOWN.lacks()),
    Row("7", "upstream held by others: downstream is deleted at once", BOTH, UP.makes(spec=1, finalizers=HOLD), DOWN.has(),
        UP.deletes(), DOWN.lacks(), UP.has(terminating=True, finalizers=HOLD), UP.edits(finalizers=[]), UP.lacks()),
    Row("7", "upstream deleted while the syncer was down: deleted on start", ALL, UP.makes(spec=1), DOWN.has(), STOP,
        UP.deletes(), START, DOWN.lacks()),
    Row("7", "robot offline: upstream's deletion completes anyway", BOTH, UP.makes(spec=1), DOWN.has(), STOP, UP.deletes(),
        UP.lacks(), DOWN.has(same=True), START, DOWN.lacks()),
    Row("7", "downstream deleted by hand: made anew, with upstream's status in it", "charts", UP.makes(spec=1), DOWN.has(),
        DOWN.reports({"a": 1}), UP.has(status={"a": 1}), DOWN.deletes(), DOWN.has(spec=1, status={"a": 1}, anew=True)),
    Row("7", "made downstream by hand, no filter: deleted", ALL, DOWN.makes(spec=1), DOWN.lacks()),
    Row("7", "made downstream by hand, filter, no label: ignored", "tasks", DOWN.makes(labels={}, spec=1), SETTLED,
        DOWN.has(same=True)),
    Row("7", "made downstream by hand, filter, another label: ignored", "tasks", DOWN.makes(labels=OTHERS, spec=1), SETTLED,
        DOWN.has(same=True)),
    Row("7", "made downstream by hand, filter, label matches, no upstream: deleted", "tasks", DOWN.makes(labels=MINE, spec=1),
        DOWN.lacks()),
    Row("7", "upstream deleted and made anew while the syncer was down", BOTH, UP.makes(spec=1), DOWN.has(),
        DOWN.reports({"old": 1}), UP.has(status={"old": 1}), STOP, UP.deletes(), UP.makes(spec=2), START,
        DOWN.has(spec=2, anew=True), SETTLED, UP.has(status=ABSENT), differs="made anew downstream, too: match_uid"),
    Row("7", "upstream deleted, downstream held by a finalizer, upstream made anew", BOTH, UP.makes(spec=1), DOWN.has(),
        DOWN.edits(finalizers=HOLD), DOWN.reports({"old": 1}), UP.has(status={"old": 1}), UP.deletes(),
        DOWN.has(terminating=True), UP.makes(spec=2), SETTLED, UP.has(status=ABSENT),
        DOWN.has(spec=1, status={"old": 1}, terminating=True, same=True), DOWN.edits(finalizers=[]),
        DOWN.has(spec=2, terminating=False, anew=True), SETTLED, UP.has(status=ABSENT),
        differs="the held one gets no spec, and its old status does not go up"),
    Row("7", "upstream's label removed: deleted downstream", "tasks", UP.makes(spec=1), DOWN.has(),
        UP.edits(labels={"cloudrobotics.com/robot-name": None}), DOWN.lacks(), UP.has(spec=1)),
    Row("7", "upstream's label changed to another robot: deleted downstream, and back", "tasks", UP.makes(spec=1), DOWN.has(),
        UP.edits(labels=OTHERS), DOWN.lacks(), UP.edits(labels=MINE), DOWN.has(spec=1, anew=True)),
    Row("7", "without the label, with a filter: not synced", "tasks", UP.makes(labels={}, spec=1), SETTLED, DOWN.lacks()),
    Row("7", "downstream's label changed by hand", "tasks", UP.makes(spec=1), DOWN.has(), DOWN.edits(labels=OTHERS),
        DOWN.has(labels=MINE, same=True), UP.edits(spec=2), DOWN.has(spec=2, same=True), DOWN.reports("s"),
        UP.has(status="s"), differs="it is put back: B3"),
    Row("7", "downstream's spec edited by hand", ALL, UP.makes(spec={"a": 1}), DOWN.has(), DOWN.edits(spec={"a": 7}),
        DOWN.has(spec={"a": 1}, same=True), differs="put back at once, not after up to five minutes"),
    Row("7", "downstream's labels and annotations edited by hand", BOTH, UP.makes(labels={"a": "1"}, spec=1), DOWN.has(),
        DOWN.edits(labels={"a": "2", "x": "y"}, annotations={"x": "y"}),
        DOWN.has(labels={"a": "1"}, annotations={}, same=True), differs="put back at once"),
    Row("7", "upstream's status edited by hand", BOTH, UP.makes(spec=1), DOWN.has(), DOWN.reports({"a": 1}),
        UP.has(status={"a": 1}), UP.reports({"a": 7}), UP.has(status={"a": 1}, same=True), differs="put back at once"),
    Row("7", "a name that others have downstream, which the filter hides", "tasks", DOWN.makes(labels=OTHERS, spec="theirs"),
        UP.makes(spec=1), UP.is_stuck("its name is taken"), DOWN.has(spec="theirs", labels=OTHERS),
        DOWN.deletes(), DOWN.has(spec=1, labels=MINE), differs="said, and the other's object stays"),
]

# With observed_generation = "copy" and match_uid = false, as the older documents of the syncer say.
AS_BEFORE = [
    Row("1, 6.3", "observedGeneration is copied verbatim", BOTH, UP.makes(spec=1), DOWN.has(),
        DOWN.reports({"observedGeneration": 7}), UP.has(status={"observedGeneration": 7})),
    Row("7", "upstream deleted and made anew while the syncer was down: the same object downstream", BOTH, UP.makes(spec=1),
        DOWN.has(), STOP, UP.deletes(), UP.makes(spec=2), START, DOWN.has(spec=2, same=True)),
    Row("7", "upstream deleted, downstream held, upstream made anew: its spec comes, and the old status goes up", BOTH,
        UP.makes(spec=1), DOWN.has(), DOWN.edits(finalizers=HOLD), DOWN.reports({"old": 1}), UP.has(status={"old": 1}),
        UP.deletes(), DOWN.has(terminating=True), UP.makes(spec=2), DOWN.has(spec=2, same=True),
        UP.has(status={"old": 1}), DOWN.edits(finalizers=[]), DOWN.has(spec=2, terminating=False, anew=True)),
]


class Own:
    """A definition that one row has for itself."""

    def __init__(self, status=True, **annotations):
        self.status, self.annotations = status, {"spec_source": "cloud", **annotations}


TRUES, FALSES = ("1", "t", "T", "TRUE", "true", "True"), ("", "0", "f", "F", "FALSE", "false", "False")
MUST = 'it must be \\"true\\" or \\"false\\"'

DEFINITIONS = [
    Row("3 spec-source", "absent: ignored", Own(spec_source=None), UP.makes(spec=1), STOP, START, DOWN.lacks()),
    Row("3 spec-source", "empty: ignored", Own(spec_source=""), UP.makes(spec=1), STOP, START, DOWN.lacks()),
    Row("3 spec-source", "another case: an error that names the definition, and it is skipped", Own(spec_source="Cloud"),
        UP.makes(spec=1), DOWN.says("spec-source is"), STOP, START, DOWN.lacks()),
    *[Row("3 filter", f'"{value}" is true', Own(filter_by_robot_name=value), UP.makes(labels=OTHERS, spec=1),
          DOWN.makes(name="own", labels={}, spec=1), STOP, START, DOWN.lacks(), DOWN.has(name="own"),
          UP.edits(labels=MINE), DOWN.has(spec=1)) for value in TRUES],
    *[Row("3 filter", f'"{value}" is false', Own(filter_by_robot_name=value), UP.makes(labels=OTHERS, spec=1), DOWN.has(spec=1))
      for value in FALSES],
    Row("3 filter", "a bad value: an error", Own(filter_by_robot_name="yes"), UP.makes(spec=1), DOWN.makes(name="own", spec=1),
        DOWN.says("filter-by-robot-name is"), STOP, START, DOWN.lacks(), DOWN.has(name="own"),
        differs="it is skipped, not taken for false, which would delete what is not meant"),
    Row("3.2", "added while it runs: taken up", Own(spec_source=None), UP.makes(spec=1), STOP, START, DOWN.lacks(),
        ROBOTS.annotates(spec_source="cloud"), DOWN.has(spec=1)),
    Row("3.2", "spec-source gone: stopped, objects on both sides stay, and go on when it is back", Own(), UP.makes(spec=1),
        DOWN.has(spec=1), ROBOTS.annotates(spec_source=None), STOP, UP.edits(spec=2), START, DOWN.has(spec=1, same=True),
        ROBOTS.annotates(spec_source="cloud"), DOWN.has(spec=2, same=True)),
    Row("3.2", "spec-source becomes bad: stopped, objects on both sides stay", Own(), UP.makes(spec=1), DOWN.has(spec=1),
        ROBOTS.annotates(spec_source="clod"), DOWN.says("clod"), UP.deletes(), STOP, START, DOWN.has(spec=1, same=True)),
    Row("3.2", "the filter is switched on: what has no label is not touched any more", Own(), UP.makes(labels={}, spec=1),
        DOWN.has(spec=1), ROBOTS.annotates(filter_by_robot_name="true"), STOP, UP.edits(spec=2), START,
        DOWN.has(spec=1, same=True), UP.edits(labels=MINE), DOWN.has(spec=2, labels=MINE, same=True)),
    Row("3.2", "a subtree is named: its siblings upstream stay", Own(), UP.makes(spec=1), DOWN.has(), DOWN.reports({"a": 1}),
        UP.has(status={"a": 1}), ROBOTS.annotates(status_subtree="b"), STOP, START, DOWN.reports({"b": 2}),
        UP.has(status={"a": 1, "b": 2})),
    Row("3.2", "the subresource /status appears: the status goes by it", Own(status=False), UP.makes(spec=1),
        DOWN.has(spec=1), DOWN.reports("x"), UP.has(status="x"), UP.gets_the_subresource(), DOWN.gets_the_subresource(),
        DOWN.reports("y"), UP.has(status="y"), DOWN.has(spec=1, same=True)),
    Row("3.2", "deleted at the robot: no object upstream is touched; installed again, all come back", Own(), UP.makes(spec=1),
        DOWN.has(spec=1), ROBOTS.undefines(), STOP, START, UP.has(spec=1, same=True), ROBOTS.defines(),
        DOWN.has(spec=1, anew=True)),
]

WITHOUT_ROBOT_NAME = [
    Row("3.1", "a filter, and no robot name", Own(filter_by_robot_name="true"), UP.makes(labels=MINE, spec=1),
        DOWN.makes(name="own", labels={}, spec=1), DOWN.says("robot_name is empty"), STOP, START, DOWN.lacks(),
        DOWN.has(name="own"), differs="an error, and it is skipped, not synced without a filter"),
    Row("3.1", "no filter: everything is synced", Own(), UP.makes(labels={}, spec=1), DOWN.has(), DOWN.makes(name="own", spec=1),
        DOWN.lacks(name="own")),
]
assert ROBOT in MINE.values()
