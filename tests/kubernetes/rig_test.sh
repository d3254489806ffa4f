#!/usr/bin/env bash
# Shows that the rig keeps what README.md promises; ends with 0 if it does. Takes about a minute.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$(mktemp -d)
assets=$("$here/build.sh" | tail -n 1)

rig() { "$here/rig.py" "$1" --dir "$dir" "${@:2}"; }
kubectl() { "$assets/kubectl" --cache-dir "$dir/.kube" --kubeconfig "$dir/kubeconfig" "$@"; }
finish() {
  rig down || true
  rm -rf "$dir"
}
trap finish EXIT

# Runs a command that must succeed, and prints the statement which that shows.
shows() {
  local statement=$1 begin=$EPOCHREALTIME output
  if ! output=$("${@:2}" 2>&1); then
    printf 'FAIL  %s\n      %s\n%s\n' "$statement" "${*:2}" "$output"
    exit 1
  fi
  printf 'ok    %-62s %5d ms\n' "$statement" $(((${EPOCHREALTIME/./} - ${begin/./}) / 1000))
}

# One line for each pod that `kubectl get pods` selects with these arguments; $1 is a JSON path.
pods() { kubectl get pods -o "jsonpath={range .items[*]}{$1}{'\n'}{end}" "${@:2}"; }
eventually() {
  local left=600
  until "$@"; do
    ((left-- > 0)) || return 1
    sleep 0.1
  done
}
is() { [[ $("${@:2}") == "$1" ]]; }
fails() { ! "$@"; }

# A ReplicaSet as the workloads are: $1 name, $2 replicas, $3 image.
replicaset() {
  kubectl apply --server-side -f - <<YAML
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: $1}
spec:
  replicas: $2
  selector: {matchLabels: {app: $1}}
  template:
    metadata: {labels: {app: $1}}
    spec:
      runtimeClassName: gvisor
      tolerations:
      - {key: karpenter.sh/nodepool, operator: Equal, value: untrusted, effect: NoSchedule}
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: $1}}
      containers:
      - {name: main, image: "$3"}
YAML
}
ready_replicas() { kubectl get replicaset "$1" -o 'jsonpath={.status.readyReplicas}'; }
nodes_of() { pods .spec.nodeName -l "app=$1" | sort -u | xargs; }
waiting_reason() { pods '.status.containerStatuses[0].state.waiting.reason' -l "app=$1"; }
ready_condition() {
  pods '.status.phase} {.status.conditions[?(@.type=="Ready")].status' -l "app=$1"
}
has_failed_pod() { pods .status.phase -l "app=$1" | grep -qx Failed; }

zones() {
  kubectl get nodes -L topology.kubernetes.io/zone --no-headers |
    awk '{print $NF}' | sort -u | xargs
}
with_token() {
  "$assets/kubectl" --cache-dir "$dir/.kube" --kubeconfig "$dir/kubeconfig-token" "$@"
}
files() { ls -A "$dir" | xargs; }
second_up_is_refused() {
  local output
  ! output=$(rig up 2>&1) && [[ $output == *"is up in $dir already"* ]]
}

# True if none of the processes in the state file $1 is left and every port is free.
nothing_left() {
  PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 python3 - "$1" <<'PYTHON'
import json, sys
from processes import is_free, is_running
state = json.load(open(sys.argv[1]))
left = [name for name, process in state["processes"].items() if is_running(process)]
left += [name for name, port in state["ports"].items() if not is_free(port)]
sys.exit(f"left: {left}" if left else 0)
PYTHON
}

# Starts a rig in the foreground with a pipe as its stdin; closing descriptor 8 closes the pipe.
start_in_foreground() {
  mkfifo "$dir/stdin"
  rig up --foreground <"$dir/stdin" >"$dir/foreground.log" 2>&1 &
  supervisor=$!
  disown
  exec 8>"$dir/stdin"
  rm "$dir/stdin"
  eventually grep -qs '"ready": true' "$dir/rig.json"
  cp "$dir/rig.json" "$dir/before.json"
}

shows "up returns when the cluster is usable" rig up
shows "a second up in the same folder is refused" second_up_is_refused
shows "the token is accepted" with_token get nodes
shows "there are three zones" is "local-a local-b local-c" zones

shows "a ReplicaSet is accepted" replicaset web 6 example.com/web:1
shows "its pods become ready" eventually is 6 ready_replicas web
shows "and run on the untrusted node of every zone" \
  is "untrusted-a untrusted-b untrusted-c" nodes_of web
shows "a pod without the toleration is not scheduled" \
  kubectl run plain --image=example.com/plain:1 \
  --overrides='{"spec": {"runtimeClassName": "gvisor"}}'
shows "  (it says so)" kubectl wait --for=condition=PodScheduled=false pod/plain --timeout=60s

shows "a pod can run without being ready" replicaset unready 1 davit.test/unready:1
shows "  (it is Running)" eventually is "Running False" ready_condition unready
shows "a pod can be made unready by a label" kubectl label pods -l app=web davit.test/unready=true
shows "  (all are)" eventually is "" ready_replicas web
shows "and ready again" kubectl label pods -l app=web davit.test/unready-
shows "  (all are)" eventually is 6 ready_replicas web
shows "a pod can crash again and again" replicaset crash 1 davit.test/crash:1
shows "  (it waits)" eventually is CrashLoopBackOff waiting_reason crash
shows "a pod can fail" replicaset fail 1 davit.test/fail:1
shows "  (it is Failed)" eventually has_failed_pod fail

policy='{"apiVersion": "cilium.io/v2", "kind": "CiliumNetworkPolicy", "metadata": {"name": "p"},
         "spec": {"egress": [{"any": 1}]}}'
shows "a CiliumNetworkPolicy is accepted" kubectl apply --server-side -f - <<<"$policy"
shows "and keeps fields of any name" is 1 kubectl get cnp p -o 'jsonpath={.spec.egress[0].any}'

uid=$(kubectl get replicaset web -o 'jsonpath={.metadata.uid}')
shows "the API server can be stopped" rig stop-apiserver
shows "then nobody answers" fails kubectl get --raw /readyz --request-timeout=2s
shows "and started" rig start-apiserver
shows "but not twice" fails rig start-apiserver
shows "with the same data on the same port" \
  is "$uid" kubectl get replicaset web -o 'jsonpath={.metadata.uid}'
shows "and the controllers go on" kubectl scale replicaset web --replicas=9
shows "  (all pods are ready)" eventually is 9 ready_replicas web

shows "deleted ReplicaSets" kubectl delete replicaset --all --wait=false
shows "take their pods with them" eventually is plain pods .metadata.name

cp "$dir/rig.json" "$dir/before.json"
shows "down ends everything" rig down
shows "and leaves no process and no port" nothing_left "$dir/before.json"
shows "and no file but the logs" is "before.json logs" files

start_in_foreground
shows "a supervisor that is killed" kill -KILL "$supervisor"
shows "takes everything with it" eventually nothing_left "$dir/before.json"
shows "down after that is fine" rig down
exec 8>&-

start_in_foreground
exec 8>&-
shows "the end of stdin ends a rig in the foreground" eventually nothing_left "$dir/before.json"
