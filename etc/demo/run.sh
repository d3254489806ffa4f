#!/usr/bin/env bash
# `make run`: a server on SQLite and an agent, on this machine, from the shipped files with a few keys merged on top.
# The agent's cluster is in its memory, or the one of $KUBECONFIG when that is set: any will do, as what Krane's own
# clusters have (gVisor, Cilium) is turned off then. Ctrl-C ends both.
set -euo pipefail
# shellcheck source=etc/demo/parts.sh
. "$(dirname "$0")/parts.sh" "$1"
region=eu-demo-1

demo_folder demo
new_token "$dir/agent.token"

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

export DAVIT_SERVER=unix:$socket
start server "$davit" run "$etc/server.toml" "$dir/server.toml"
wait_for server "$davit" status
echo "server   127.0.0.1:$port, operator's socket $socket"

start agent "$davit" run "$etc/agent.toml" "$dir/agent.toml"
echo "agent    region $region, $cluster"

echo
echo "\$ davit apply -f etc/demo/shop.yaml --wait"
"$davit" apply -f "$etc/demo/shop.yaml" --wait
if [ -z "${KUBECONFIG:-}" ]; then
  echo "\$ davit apply -f etc/demo/policy.yaml --wait"
  "$davit" apply -f "$etc/demo/policy.yaml" --wait
fi
ended agent
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
