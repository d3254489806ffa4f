#!/usr/bin/env bash
# `make run`: a server on SQLite and an agent, on this machine, from the shipped files with a few keys merged on top.
# The agent's cluster is in its memory, or the one of $KUBECONFIG when that is set: any will do, as what Krane's own
# clusters have (gVisor, Cilium) is turned off then. Ctrl-C ends both.
set -euo pipefail

stage=$(realpath "$1")
etc=$(realpath "$(dirname "$0")/..")
dir=${DAVIT_DEMO_DIR:-$(dirname "$stage")/demo}
port=${DAVIT_DEMO_PORT:-7070}
region=eu-demo-1
davit=$stage/bin/davit

mkdir -p "$dir"
dir=$(realpath "$dir")
socket=$dir/operator.sock
umask 077
exec 9>"$dir/lock"
if ! flock -n 9; then
  echo "a demo runs in $dir already: end it, or give this one DAVIT_DEMO_DIR and DAVIT_DEMO_PORT of its own" >&2
  exit 1
fi
[ -s "$dir/agent.token" ] || od -An -N24 -tx1 /dev/urandom | tr -d ' \n' >"$dir/agent.token"

cat >"$dir/server.toml" <<END
[host]
state_dir = "$dir/server"
[rpc.server.main]
listen = "127.0.0.1:$port"
[[rpc.server.main.token]]
name = "demo"
file = "$dir/agent.token"
role = "agent"
regions = ["$region"]
[rpc.server.operator]
listen = "unix:$socket"
[plugin.main]
path = "$dir/davit.db"
END

if [ -n "${KUBECONFIG:-}" ]; then
  cluster="the cluster of $KUBECONFIG"
  module="module = \"cluster_kubernetes\"
kubeconfig = \"$KUBECONFIG\"
[plugin.deployment]
runtime_class = \"\"
[plugin.sentinel]
gossip_policy = false"
else
  cluster="a cluster in its memory"
  module="module = \"cluster_memory\""
fi
cat >"$dir/agent.toml" <<END
[host]
state_dir = "$dir/agent"
[rpc.client.control]
url = "http://127.0.0.1:$port"
token_file = "$dir/agent.token"
region = "$region"
[plugin.cluster]
$module
END

server= agent=
finish() {
  trap - EXIT INT TERM HUP
  for pid in $agent $server; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
}
trap finish EXIT
trap 'echo; echo "stopping"; exit 0' INT TERM HUP

# ended NAME PID: says why and ends, when that process has gone.
ended() {
  kill -0 "$2" 2>/dev/null && return
  echo "the $1 did not start; $dir/$1.log ends with:" >&2
  tail -n 5 "$dir/$1.log" >&2
  exit 1
}

# Each has a session of its own: the terminal's Ctrl-C reaches this script alone, which ends them in order.
setsid "$davit" run "$etc/server.toml" "$dir/server.toml" >"$dir/server.log" 2>&1 &
server=$!
for _ in $(seq 100); do
  ended server "$server"
  DAVIT_SERVER=unix:$socket "$davit" status >/dev/null 2>&1 && break
  sleep 0.1
done
echo "server   127.0.0.1:$port, operator's socket $socket"

setsid "$davit" run "$etc/agent.toml" "$dir/agent.toml" >"$dir/agent.log" 2>&1 &
agent=$!
echo "agent    region $region, $cluster"

export DAVIT_SERVER=unix:$socket
echo
echo "\$ davit apply -f etc/demo/shop.yaml --wait"
"$davit" apply -f "$etc/demo/shop.yaml" --wait
if [ -z "${KUBECONFIG:-}" ]; then
  echo "\$ davit apply -f etc/demo/policy.yaml --wait"
  "$davit" apply -f "$etc/demo/policy.yaml" --wait
fi
ended agent "$agent"
echo
echo "\$ davit status"
"$davit" status

cat <<END

Both keep running; Ctrl-C ends them. In another terminal:

  export DAVIT_SERVER=$DAVIT_SERVER PATH=$stage/bin:\$PATH
  davit get deployment                          what you asked for
  davit apply -f etc/demo/shop.yaml             again: nothing changes
  sed 's/replicas: 2/replicas: 5/' etc/demo/shop.yaml | davit apply -f - --wait
  davit delete deployment d_web --region $region
  davit status -o yaml                          everything known, for programs
  tail -f $dir/agent.log
END
wait
