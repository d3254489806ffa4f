"""Good and bad requests, and what the server must answer: one row a line. test_requests.py sends them.

Answers are written as requests_case.py prints them, `...` stands for anything:
  apply shop/app-1 @1   a record and its version (point queries of ctrl.v1 have none)
  hold shop/app-4 @4    davit.v1 only; that wire says "do not touch this object"
  CODE: text            how a call ended when it was not OK
A row for both protocols has both answers. Rows of the kind sentinel count where kind_sentinel is there.
"""

from parts import deployment, policy

HERE = "here"
REGIONS = (HERE, "there", "empty")  # what the token names; the token "edge" names HERE alone
OTHER_TOKEN = "edge-secret-of-the-tests"


def sentinel(number, region=HERE):
    return {"kind": "sentinel", "region": region, "id": f"s_{number}",
            "spec": {"k8s_name": f"sentinel-{number}", "workspace_id": "ws_1", "project_id": "proj_1",
                     "app_id": "app_1", "environment_id": "env_1", "sentinel_id": f"s_{number}",
                     "image": "registry.example/sentinel:1", "replicas": 1, "cpu_millicores": "100",
                     "memory_mib": "64"}}


# What is in the store; versions count from 1 in this order.
RECORDS = [
    deployment(1, region=HERE),
    {**deployment(2, region=HERE), "state": "archived"},
    {**deployment(3, region=HERE), "state": "standby"},
    {**deployment(4, region=HERE), "annotations": {"davit.dev/pause": "true"}},
    deployment(5, region=HERE),
    deployment(6, region=HERE),
    deployment(7, region="there"),
    deployment(8, region=HERE, replicas=0),
    deployment(9, region=HERE),
    deployment(10, region=HERE, namespace="mall", k8s_name="app-9"),
    policy(1, region=HERE),
    {**policy(2, region=HERE), "state": "archived"},
    policy(3, region=HERE),
    deployment(14, region=HERE),
    deployment(15, region=HERE),
    deployment(16, region=HERE),
    deployment(17, region=HERE),
]
DELETED = "d_14"  # which gives version 18
SENTINELS = [sentinel(1), {**sentinel(2), "state": "archived"}, sentinel(3, "there")]  # 19, 20, 21

# What no operator can write: put into the database while nobody has it open.
def planted(store):
    """(id, what is written into its row)"""
    return [
        ("d_5", "state = 'exploding'"),
        ("d_6", f"payload = {store.bytes('0a05')}"),  # a string of five bytes, of which there is none
        ("d_15", f"payload = {store.bytes('0a05')}, json = {store.no_json}"),  # the same, and nothing else to go by
        ("d_16", f"payload = {store.longer('payload', '3a01ff')}"),  # a text that is no UTF-8
        ("d_17", f"payload = {store.longer('payload', 'da010161')}"),  # a message within that is none
        ("net_3", f"payload = {store.bytes('120570322d3133')}, json = {store.no_json}"),  # only a name: empty
    ]


HELD = ("deployment/here/d_5", "deployment/here/d_6", "deployment/here/d_15", "deployment/here/d_16",
        "deployment/here/d_17", "cilium_network_policy/here/net_3")

# A good request to each method. What follows is done to all of them.
REQUESTS = {
    "ClusterService/WatchDeployments": "version_last_seen: 18",
    "ClusterService/WatchSentinels": "version_last_seen: 18",
    "ClusterService/WatchCiliumNetworkPolicies": "version_last_seen: 18",
    "ClusterService/GetDesiredDeploymentState": "deployment_id: 'd_1'",
    "ClusterService/GetDesiredSentinelState": "sentinel_id: 's_1'",
    "ClusterService/GetDesiredCiliumNetworkPolicyState": "cilium_network_policy_id: 'net_1'",
    "ClusterService/ReportDeploymentStatus": "update { k8s_name: 'app-1' }",
    "ClusterService/ReportSentinelStatus": "k8s_name: 'sentinel-1'",
    "ClusterService/Heartbeat": "region: 'here' platform: 'aws'",
    "AgentService/Watch": "subscriptions { kind: 'deployment' }",
    "AgentService/Get": "kind: 'deployment' id: 'd_1'",
    "AgentService/Report": "statuses { kind: 'deployment' id: 'd_1' epoch: 1 }",
    "AgentService/Progress": "agent: 'a'",
}

MISSING, INVALID, WRONG = "missing Authorization header", "invalid Authorization header", "invalid bearer token"
TOKEN = "agent-secret-of-the-tests"
# what, authorization headers: UNAUTHENTICATED with this text, whatever the method
CREDENTIALS = [
    ("none", [], MISSING),
    ("no scheme", [TOKEN], INVALID),
    ("another scheme", [f"Basic {TOKEN}"], INVALID),
    ("the scheme in lower case", [f"bearer {TOKEN}"], INVALID),
    ("two spaces", [f"Bearer  {TOKEN}"], INVALID),
    ("another token", ["Bearer nobody"], WRONG),
    ("half a token", [f"Bearer {TOKEN[:-1]}"], WRONG),
    ("a token and more", [f"Bearer {TOKEN}s"], WRONG),
    ("twice the same", [f"Bearer {TOKEN}"] * 2, INVALID),
    ("a right and a wrong one", [f"Bearer {TOKEN}", "Bearer nobody"], INVALID),
]

NO_REGION = "INVALID_ARGUMENT: header X-Krane-Region is missing"
# what, x-krane-region headers, token: the same answer from every method
HEADERS = [
    ("no region", [], TOKEN, NO_REGION),
    ("an empty region", [""], TOKEN, NO_REGION),
    ("an unknown region", ["nowhere"], TOKEN, 'PERMISSION_DENIED: region "nowhere" is not one that token "agents" names'),
    ("another case", ["Here"], TOKEN, 'PERMISSION_DENIED: region "Here" is not one that token "agents" names'),
    ("any region", ["*"], TOKEN, 'PERMISSION_DENIED: region "*" is not one that token "agents" names'),
    ("another's region", ["there"], OTHER_TOKEN, 'PERMISSION_DENIED: region "there" is not one that token "edge" names'),
    ("two regions", ["here", "there"], TOKEN, 'PERMISSION_DENIED: region "..." is not one that token "agents" names'),
]

# what, request: Heartbeat alone has its region in the message
HEARTBEATS = [
    ("good", "region: 'here' platform: 'aws'", "ok"),
    ("no platform", "region: 'here'", "ok"),
    ("no region", "platform: 'aws'", "INVALID_ARGUMENT: region: is empty"),
    ("unknown region", "region: 'nowhere'", 'PERMISSION_DENIED: region "nowhere" is not one that token "agents" names'),
    ("two lines", r"region: 'here\nforged' platform: 'a'", "INVALID_ARGUMENT: region: must be printable ASCII..."),
    ("control characters", r"region: 'here' platform: '\033[2J'", "INVALID_ARGUMENT: platform: must be printable ASCII..."),
]

DECODE = "INVALID_ARGUMENT: the request cannot be decoded"
# what, what is made of a good request's bytes
BYTES = [
    ("as it is", lambda good: good, "ok"),
    ("an unknown field", lambda good: good + b"\xc0\x3e\x01", "ok"),
    ("an unknown field of 100 kB", lambda good: good + b"\xc2\x3e\xa0\x8d\x06" + bytes(100_000), "ok"),
    ("its last byte is missing", lambda good: good[:-1], DECODE),
    ("trailing garbage", lambda good: good + b"\xff", DECODE),
    ("field number 0", lambda good: good + b"\x00\x00", DECODE),
    ("the end of a group", lambda good: good + b"\x0c", DECODE),
    ("an endless number", lambda good: good + b"\x08" + b"\xff" * 11, DECODE),
    ("a length beyond the end", lambda good: good + b"\xc2\x3e\xff\xff\xff\xff\x07", DECODE),
    ("another protocol", lambda good: b"GET / HTTP/1.1\r\n\r\n", DECODE),
    ("too large", lambda good: good + b"\xc2\x3e\x80\x80\x80\x02" + bytes(4 << 20),
     "RESOURCE_EXHAUSTED: request of ...41943... bytes is larger than the limit of 4194304 bytes of ..."),
    ("far too large", lambda good: good + b"\xc2\x3e\x80\x80\x80\x04" + bytes(8 << 20), "RESOURCE_EXHAUSTED: ..."),
]

# method, bytes in which a text is not UTF-8
NOT_UTF8 = [
    ("ClusterService/GetDesiredDeploymentState", b"\n\x01\xff"),
    ("ClusterService/GetDesiredCiliumNetworkPolicyState", b"\n\x02\xc3("),
    ("ClusterService/ReportDeploymentStatus", b"\n\x03\n\x01\xff"),
    ("ClusterService/Heartbeat", b"\n\x01\xff"),
    ("AgentService/Watch", b"\n\x03\n\x01\xff"),
    ("AgentService/Get", b"\n\x01\xff"),
    ("AgentService/Report", b"\n\x03\n\x01\xff"),
    ("AgentService/Progress", b"\n\x01\xff"),
]

# Methods and services that are not there.
PATHS = ["/ctrl.v1.ClusterService/WatchNothing", "/ctrl.v2.ClusterService/WatchDeployments",
         "/davit.v1.AgentService/get", "/davit.v1.AgentService/", "/nothing"]

DEPLOYMENT, POLICY, SENTINEL = "deployment", "cilium_network_policy", "sentinel"
PAUSED = "paused by annotation davit.dev/pause"
EXPLODING = 'kind deployment does not handle state "exploding"'
BROKEN = "payload cannot be decoded..."


def missing(kind, key):
    return f'NOT_FOUND: no {kind} with id "{key}" in this region'


# what, region, kind, id, ctrl.v1, davit.v1
POINT_QUERIES = [
    ("running", HERE, DEPLOYMENT, "d_1", "apply shop/app-1", "apply shop/app-1 @1"),
    ("archived", HERE, DEPLOYMENT, "d_2", "delete shop/app-2", "delete shop/app-2 @2"),
    ("standby", HERE, DEPLOYMENT, "d_3", "delete shop/app-3", "delete shop/app-3 @3"),
    ("deleted", HERE, DEPLOYMENT, "d_14", "delete shop/app-14", "delete shop/app-14 @18"),
    ("paused", HERE, DEPLOYMENT, "d_4", f"FAILED_PRECONDITION: {PAUSED}", f"hold shop/app-4 @4: {PAUSED}"),
    ("unhandled state", HERE, DEPLOYMENT, "d_5", f"INTERNAL: {EXPLODING}", f"hold shop/app-5 @5: {EXPLODING}"),
    ("undecodable", HERE, DEPLOYMENT, "d_6", f"INTERNAL: {BROKEN}", f"hold shop/app-6 @6: {BROKEN}"),
    ("undecodable, no JSON", HERE, DEPLOYMENT, "d_15", f"INTERNAL: {BROKEN}", f"hold shop/app-15 @15: {BROKEN}"),
    ("a text that is none", HERE, DEPLOYMENT, "d_16", f"INTERNAL: {BROKEN}", f"hold shop/app-16 @16: {BROKEN}"),
    ("broken within", HERE, DEPLOYMENT, "d_17", f"INTERNAL: {BROKEN}", f"hold shop/app-17 @17: {BROKEN}"),
    ("no replicas", HERE, DEPLOYMENT, "d_8", "FAILED_PRECONDITION: replicas: no pods cannot be said on ctrl.v1...",
     "apply shop/app-8 @8"),
    ("another region's", HERE, DEPLOYMENT, "d_7", missing(DEPLOYMENT, "d_7"), "none"),
    ("in its own region", "there", DEPLOYMENT, "d_7", "apply shop/app-7", "apply shop/app-7 @7"),
    ("a region without records", "empty", DEPLOYMENT, "d_1", missing(DEPLOYMENT, "d_1"), "none"),
    ("unknown", HERE, DEPLOYMENT, "d_77", missing(DEPLOYMENT, "d_77"), "none"),
    ("another case", HERE, DEPLOYMENT, "D_1", missing(DEPLOYMENT, "D_1"), "none"),
    ("another kind's", HERE, DEPLOYMENT, "net_1", missing(DEPLOYMENT, "net_1"), "none"),
    ("no id", HERE, DEPLOYMENT, "", "INVALID_ARGUMENT: the id is empty", "INVALID_ARGUMENT: neither an id nor a name..."),
    ("a policy", HERE, POLICY, "net_1", "apply shop/policy-1", "apply shop/policy-1 @11"),
    ("an archived policy", HERE, POLICY, "net_2", "delete shop/policy-2", "delete shop/policy-2 @12"),
    ("an empty policy", HERE, POLICY, "net_3", "INTERNAL: ...", "hold shop/policy-3 @13: ..."),
    ("an unknown policy", HERE, POLICY, "net_77", missing(POLICY, "net_77"), "none"),
    ("a sentinel", HERE, SENTINEL, "s_1", "apply sentinel-1", "apply .../sentinel-1 @19"),
    ("an archived sentinel", HERE, SENTINEL, "s_2", "delete sentinel-2", "delete .../sentinel-2 @20"),
    ("another region's sentinel", HERE, SENTINEL, "s_3", missing(SENTINEL, "s_3"), "none"),
    ("an unknown sentinel", HERE, SENTINEL, "s_77", missing(SENTINEL, "s_77"), "none"),
]

# Ids that would break something that is not careful: nobody has them.
HOSTILE = ["d_1\nlevel=error forged", "d_1\r\ngrpc-status: 0", "d_1\0", "\x1b[2J\x1b[1;31m", "' OR 1=1 --", '"}{',
           "../../etc/passwd", "%0a%0d%00", "\u202e1_d", "\U0001f6a2", "é" * 5_000, "x" * 100_000, " d_1", "d_1 "]

# what, region, kind, cursor, ctrl.v1, davit.v1; the ctrl.v1 streams end when they have caught up
WATCHES = [
    ("from nothing", HERE, DEPLOYMENT, "0",
     "apply shop/app-1 @1, delete shop/app-2 @2, delete shop/app-3 @3, move to 8, apply shop/app-9 @9, "
     "apply mall/app-9 @10, delete shop/app-14 @18",
     f"snapshot, apply shop/app-1 @1, delete shop/app-2 @2, delete shop/app-3 @3, hold shop/app-4 @4: {PAUSED}, "
     f"hold shop/app-5 @5: {EXPLODING}, "
     f"hold shop/app-6 @6: {BROKEN}, apply shop/app-8 @8, apply shop/app-9 @9, apply mall/app-9 @10, "
     f"hold shop/app-15 @15: {BROKEN}, hold shop/app-16 @16: {BROKEN}, hold shop/app-17 @17: {BROKEN}, "
     "delete shop/app-14 @18, end of 10 at the head"),
    ("from the middle", HERE, DEPLOYMENT, "8", "apply shop/app-9 @9, apply mall/app-9 @10, delete shop/app-14 @18",
     "tail after 8, apply shop/app-9 @9, apply mall/app-9 @10, hold shop/app-15 @15: ..., hold shop/app-16 @16: ..., "
     "hold shop/app-17 @17: ..., delete shop/app-14 @18..."),
    ("at the head", HERE, DEPLOYMENT, "head", "", "tail after the head"),
    ("a region without records", "empty", DEPLOYMENT, "0", "", "snapshot, end of 0 at the head"),
    ("another region", "there", DEPLOYMENT, "0", "apply shop/app-7 @7", "snapshot, apply shop/app-7 @7, end of 1 at the head"),
    ("policies", HERE, POLICY, "0", "apply shop/policy-1 @11, delete shop/policy-2 @12",
     "snapshot, apply shop/policy-1 @11, delete shop/policy-2 @12, hold shop/policy-3 @13: ..., end of 2 at the head"),
    ("sentinels", HERE, SENTINEL, "0", "apply sentinel-1 @19, delete sentinel-2 @20",
     "snapshot, apply .../sentinel-1 @19, delete .../sentinel-2 @20, end of 1 at the head"),
    ("from the future", HERE, DEPLOYMENT, "future",  # the store was restored: a ctrl.v1 peer gets everything again
     "apply shop/app-1 @1, delete shop/app-2 @2, delete shop/app-3 @3, move to 8, apply shop/app-9 @9, "
     "apply mall/app-9 @10, delete shop/app-14 @18",
     "OUT_OF_RANGE: cursor 1000000 is above ..."),
    ("of another history", HERE, DEPLOYMENT, "elsewhere", None, "OUT_OF_RANGE: cursor 3 is of another history..."),
]
# The same after everything up to this version was purged.
PURGED_THROUGH = 12
WATCHES_AFTER_PURGE = [
    ("below the purge mark", HERE, DEPLOYMENT, "3",
     "apply shop/app-1 @1, move to 8, apply shop/app-9 @9, apply mall/app-9 @10, delete shop/app-14 @18",
     "OUT_OF_RANGE: ..."),
    ("at the purge mark", HERE, DEPLOYMENT, "12", "delete shop/app-14 @18",
     "tail after 12, hold shop/app-15 @15: ..., hold shop/app-16 @16: ..., hold shop/app-17 @17: ..., "
     "delete shop/app-14 @18..."),
    ("from nothing", HERE, DEPLOYMENT, "0",
     "apply shop/app-1 @1, move to 8, apply shop/app-9 @9, apply mall/app-9 @10, delete shop/app-14 @18",
     "snapshot, apply shop/app-1 @1, ..., end of 10 at the head"),
]
# what, request
BAD_WATCHES = [
    ("no kind", "", "INVALID_ARGUMENT: subscriptions: names no kind"),
    ("an unknown kind", "subscriptions { kind: 'deploymnt' }", 'INVALID_ARGUMENT: kind "deploymnt" is not known to this server'),
    ("an empty kind", "subscriptions { }", 'INVALID_ARGUMENT: kind "" is not known to this server'),
    ("a good one and an unknown one", "subscriptions { kind: 'x' } subscriptions { kind: 'deployment' }", "ok"),
    ("another region", "subscriptions { kind: 'deployment' region: 'there' }",
     'UNIMPLEMENTED: subscriptions.region: this server does not serve region "there" in a call of region "here": call '
     "once for each region"),
    ("what the server must know", "subscriptions { kind: 'deployment' } required_features: 'telepathy'",
     'UNIMPLEMENTED: required_features: "telepathy" is not known to this server: upgrade the server before its peers'),
    ("a kind twice", "subscriptions { kind: 'deployment' } subscriptions { kind: 'deployment' }",
     'INVALID_ARGUMENT: subscriptions: kind "deployment" is named twice'),
    ("too many", " ".join(f"subscriptions {{ kind: 'k{n}' }}" for n in range(65)), "INVALID_ARGUMENT: subscriptions: more than 64..."),
]

# what, the pods that are reported (None: the delete report), the pods that are stored then. In this order.
REPORTS = [
    ("pods come", "p1 running, p2 pending", "p1 running, p2 pending"),
    ("one goes, one changes, one comes", "p2 running, p3 failed", "p2 running, p3 failed"),
    ("the same again", "p2 running, p3 failed", "p2 running, p3 failed"),
    ("none is left", "", ""),
    ("some are there again", "p4 running", "p4 running"),
    ("all is deleted", None, ""),
]
# what, region, request, answer, the pods of d_1 then
CTRL_REPORTS = [
    ("unspecified", HERE, "update { k8s_name: 'app-1' instances { k8s_name: 'p' } }", "ok", "p inactive"),
    ("a status of a later wire", HERE, "update { k8s_name: 'app-1' instances { k8s_name: 'p' status: 99 } }", "ok", "p inactive"),
    ("neither update nor delete", HERE, "", "INVALID_ARGUMENT: exactly one of update and delete is needed", "p inactive"),
    ("no name", HERE, "update { }", "INVALID_ARGUMENT: update.k8s_name: is missing", "p inactive"),
    ("an unknown name", HERE, "update { k8s_name: 'app-77' }", 'NOT_FOUND: no deployment "app-77" in region "here"', "p inactive"),
    ("another region's name", "there", "delete { k8s_name: 'app-1' }", 'NOT_FOUND: no deployment "app-1" in region "there"', "p inactive"),
    ("a name of two namespaces", HERE, "update { k8s_name: 'app-9' }",
     'FAILED_PRECONDITION: deployment "app-9" exists in 2 namespaces', "p inactive"),
    ("a name that Kubernetes refuses", HERE, "delete { k8s_name: 'Not_Valid!' }",
     'NOT_FOUND: no deployment "Not_Valid!" in region "here"', "p inactive"),
    ("a pod without a name", HERE, "update { k8s_name: 'app-1' instances { } }",
     "INVALID_ARGUMENT: update.instances[0].k8s_name: is missing", "p inactive"),
    ("a negative size", HERE, "update { k8s_name: 'app-1' instances { k8s_name: 'q' memory_mib: -1 } }",
     "INVALID_ARGUMENT: update.instances[0].memory_mib: must be at least 0, not -1", "p inactive"),
]
# what, request, health and available replicas then
SENTINEL_REPORTS = [
    ("healthy", "k8s_name: 'sentinel-1' available_replicas: 2 health: HEALTH_HEALTHY", "healthy 2"),
    ("unhealthy", "k8s_name: 'sentinel-1' available_replicas: 1 health: HEALTH_UNHEALTHY", "unhealthy 1"),
    ("paused", "k8s_name: 'sentinel-1' health: HEALTH_PAUSED", "paused 0"),
    ("unspecified", "k8s_name: 'sentinel-1' available_replicas: 1", "unknown 1"),
]
# One call of davit.v1: a status each, and why it was refused (None: taken).
BATCH_OF_REPORTS = [
    ("kind: 'deployment' id: 'd_8' ready: 3 epoch: 5", None),
    ("kind: '' id: 'd_1'", "the kind is empty"),
    ("kind: 'deployment' id: ''", "the id is empty"),
    ("kind: 'deploymnt' id: 'd_1'", 'kind "deploymnt" is not known to this server'),
    ("kind: 'deployment' id: 'd_7' region: 'there'", 'region "there" is not the one of the call ("here")'),
    ("kind: 'deployment' id: 'd_1' ready: -1", "a count is negative"),
    ("kind: 'deployment' id: 'd_2' health: 'splendid'", None),  # a later agent's: stored as unknown
    ("kind: 'deployment' id: 'd_77' epoch: 5", None),  # unknown to the store: nothing to keep
    ("kind: 'deployment' id: 'd_9' ready: 4 epoch: 5", None),
]
PROGRESS = [
    ("good", "agent: 'a' kinds { kind: 'deployment' applied { version: 3 } }", "ok"),
    ("no agent", "", "INVALID_ARGUMENT: agent: is empty"),
    ("two lines", r"agent: 'a\nforged'", "INVALID_ARGUMENT: agent: must be printable ASCII without spaces"),
    ("control characters", r"agent: '\033[2J'", "INVALID_ARGUMENT: agent: must be printable ASCII without spaces"),
    ("too long", f"agent: '{'a' * 254}'", "INVALID_ARGUMENT: agent: is longer than 253 bytes"),
    ("an unknown kind", "agent: 'a' kinds { kind: 'x' }", 'INVALID_ARGUMENT: kind "x" is not known to this server'),
    ("a kind twice", "agent: 'a' kinds { kind: 'deployment' } kinds { kind: 'deployment' }",
     'INVALID_ARGUMENT: kinds: kind "deployment" is named twice'),
    ("an epoch of the far future", "agent: 'a' epoch: 18446744073709551615",
     "FAILED_PRECONDITION: epoch: epoch 18446744073709551615 is more than 3650 days ahead..."),
]


def changed(document, **spec):
    return {**document, "spec": {**document["spec"], **spec}}


# One call of the operator's Apply: a document each, and what becomes of it.
BATCH_OF_DOCUMENTS = [
    (deployment(31, region=HERE), "created"),
    (changed(deployment(32, region=HERE), k8s_name="Not_Valid!"), "refused spec.k8s_name: ..."),
    (changed(deployment(32, region=HERE), k8s_name="x" * 254), "refused spec.k8s_name: ..."),
    (changed(deployment(32, region=HERE), k8s_namespace="a/b"), "refused spec.k8s_namespace: ..."),
    (changed(deployment(32, region=HERE), deployment_id="d\n32"), "refused spec.deployment_id: must be usable as a label..."),
    (deployment(32, region="nowhere"), 'refused region: "nowhere" is not known: no token of an agent names it'),
    (deployment(32, region="he\nre"), "refused region: has a space, a slash or a control character"),
    ({**deployment(32, region=HERE), "kind": "deploymnt"}, 'refused kind: "deploymnt" is not known to this server...'),
    ({**deployment(32, region=HERE), "state": "exploding"}, 'refused state: kind deployment does not handle "exploding"'),
    (changed(deployment(1, region=HERE), k8s_name="another"),
     'refused : ... is "shop/app-1" for its life and cannot become "shop/another"'),
    (changed(deployment(33, region=HERE), k8s_name="app-1"), 'refused : its name is taken by "d_1", which is live'),
    (deployment(34, region=HERE), "created"),
    (deployment(34, region=HERE), "refused id: is named twice in this request"),
]


# --- HTTP/2 by hand, to AgentService/Get: `message` is the good request in its frame ----------------------------------

AUTHORIZED = [(b"authorization", b"Bearer " + TOKEN.encode())]
IN_HERE = [*AUTHORIZED, (b"x-krane-region", HERE.encode())]
# what, headers, body, how it ends ("reset": the call; "closed": the connection)
RAW = [
    ("good", IN_HERE, lambda message: message, "OK"),
    ("no credentials", [], lambda message: message, "UNAUTHENTICATED"),
    ("a new line in a token", [(b"authorization", b"Bearer x\r\nforged: 1")], lambda message: message, "UNAUTHENTICATED"),
    ("a new line in the region", [*AUTHORIZED, (b"x-krane-region", b"here\nforged")], lambda message: message, "INVALID_ARGUMENT"),
    ("no UTF-8 in the region", [*AUTHORIZED, (b"x-krane-region", b"he\xffre")], lambda message: message, "INVALID_ARGUMENT"),
    ("a new line in a name", [*IN_HERE, (b"x-a\nforged", b"1")], lambda message: message, "INVALID_ARGUMENT"),
    # What gRPC calls a call without its one message; its library takes a message that is cut off for none.
    ("no body", IN_HERE, lambda message: b"", "UNIMPLEMENTED"),
    ("half a message", IN_HERE, lambda message: message[:-3], "UNIMPLEMENTED"),
    ("half a frame's head", IN_HERE, lambda message: message[:3], "UNIMPLEMENTED"),
    ("an unknown flag", IN_HERE, lambda message: b"\7" + message[1:], "INVALID_ARGUMENT"),
    ("4 GB that never come", IN_HERE, lambda message: b"\0\xff\xff\xff\xff" + message, "UNIMPLEMENTED"),
]
