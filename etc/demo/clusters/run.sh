#!/usr/bin/env bash
# `make run CLUSTERS=1`: clusters as desired state, on this machine. A server, a management cluster with its agent, and the
# process that builds what the management cluster's Cluster objects describe. Three records become three Kubernetes (real
# control planes, simulated nodes), in each of which an agent is installed that makes it a region. Then one of them goes.
# Ctrl-C ends all.
set -euo pipefail
# shellcheck source=etc/demo/parts.sh
. "$(dirname "$0")/../parts.sh" "$1"
demo=$etc/demo/clusters
rig=$(realpath "$etc/../tests/kubernetes")
assets=$("$rig/build.sh" | tail -n 1)

demo_folder demo-clusters
new_token "$dir/management.token"
management() { python3 "$rig/rig.py" "$1" --dir "$dir/management" "${@:2}"; }

# In order: nobody builds any more, then what was built goes, and then the management cluster.
before_the_end() {
  for name in clusters agent; do
    if [ -n "${process[$name]:-}" ]; then stop "$name"; fi
  done
  for built in "$dir"/built/*/rig; do
    if [ -d "$built" ]; then python3 "$rig/rig.py" down --dir "$built"; fi
  done
  management down
}
before_the_end  # what a demo that was killed has left
rm -rf "$dir"/{built,agents,server,agent,clusters} "$dir"/davit.db*
mkdir "$dir/built" "$dir/agents"

cat >"$dir/server.toml" <<END
[host]
state_dir = "$dir/server"
[rpc.server.main]
listen = "127.0.0.1:$port"
agent_tokens_dir = "$dir/agents"
[[rpc.server.main.token]]
name = "management"
file = "$dir/management.token"
role = "agent"
regions = ["management"]
[rpc.server.operator]
listen = "unix:$socket"
[plugin.main]
path = "$dir/davit.db"
[plugin.kind_cluster]
module = "kind_cluster"
END

cat >"$dir/agent.toml" <<END
[host]
state_dir = "$dir/agent"
[rpc.client.control]
url = "http://127.0.0.1:$port"
token_file = "$dir/management.token"
[plugin.cluster]
kubeconfig = "$dir/management/kubeconfig"
END

# What the agents of the regions have besides etc/agent.toml: these clusters have neither gVisor nor Cilium.
cat >"$dir/region.toml" <<END
[plugin.deployment]
runtime_class = ""
[plugin.sentinel]
gossip_policy = false
END

cat >"$dir/clusters.toml" <<END
[host]
state_dir = "$dir/clusters"
[plugin.management]
kubeconfig = "$dir/management/kubeconfig"
[plugin.exec]
command = ["$rig/cluster_actuator.py"]
environment_names = ["HOME", "PATH"]
[plugin.exec.environment]
CLUSTERS = "$dir/built"
DAVIT_RUN_PODS = "davit=$stage"
[plugin.regions]
module = "actuator_exec"
command = ["$davit", "clusters", "join-regions", "--server", "unix:$socket", "--tokens", "$dir/agents", "--url", "http://127.0.0.1:$port", "--kubectl", "$assets/kubectl", "--metrics-port", "0", "$etc/agent.toml", "$dir/region.toml"]
environment_names = ["HOME", "PATH"]
[plugin.clusters]
addons = ["regions"]
END

export DAVIT_SERVER=unix:$socket
start server "$davit" run "$etc/server.toml" "$dir/server.toml"
wait_for server "$davit" status
echo "server      127.0.0.1:$port, operator's socket $socket"

start management python3 "$rig/rig.py" up --foreground --bare --dir "$dir/management"
wait_for management test -s "$dir/management/kubeconfig"
wait_for management "$assets/kubectl" --kubeconfig "$dir/management/kubeconfig" get --raw /readyz
"$davit" clusters install "$etc/clusters.toml" "$dir/clusters.toml" >/dev/null
echo "management  a cluster whose kubeconfig is $dir/management/kubeconfig"

start agent "$davit" run "$demo/management-agent.toml" "$dir/agent.toml"
start clusters "$davit" run "$etc/clusters.toml" "$dir/clusters.toml"
echo "            with its agent, and the process that builds clusters"

davit() { "$davit" "$@"; }
kubectl() { "$assets/kubectl" --cache-dir "$dir/kubectl" "$@"; }

# say COMMAND...: shows it and does it.
say() {
  echo
  echo "\$ ${*//"$etc"/etc}"
  "$@"
}

say davit apply -f "$demo/clusters.yaml" --wait --timeout 10m  # three control planes at once
say davit apply -f "$demo/shops.yaml" --wait --timeout 5m
say davit status
export KUBECONFIG=$dir/built/fleet_paris/rig/kubeconfig
echo
echo "\$ export KUBECONFIG=$KUBECONFIG"
say kubectl get nodes
say kubectl get pods -A

say davit delete cluster fleet.paris --region management
management_kubectl() { kubectl --kubeconfig "$dir/management/kubeconfig" "$@"; }
for _ in $(seq 1200); do
  ended clusters
  management_kubectl -n fleet get clusters.cluster.k8s.io paris >/dev/null 2>&1 || break
  sleep 0.1
done
say davit status
cd "$dir"
say ls built agents

cat <<END

All keep running; Ctrl-C ends them. In another terminal:

  export DAVIT_SERVER=$DAVIT_SERVER PATH=$stage/bin:$assets:\$PATH
  export KUBECONFIG=$dir/management/kubeconfig
  kubectl -n fleet get clusters.cluster.k8s.io -o yaml       what is built, as the management cluster has it
  kubectl -n fleet describe clusters.cluster.k8s.io berlin   and what happened
  davit apply -f $demo/clusters.yaml --wait --timeout 10m    paris again
  davit delete cluster fleet.berlin --region management
  tail -f $dir/clusters.log
END
wait
