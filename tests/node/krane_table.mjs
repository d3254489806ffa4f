// What a Krane control plane has in its database: regions, rows with versions, and the instances that were reported.
import { ClusterService } from "./packages.mjs";

// The three watches differ in names, and in what they answer to a region that is not there.
export const KINDS = {
  deployment: { watch: "watchDeployments", get: "getDesiredDeploymentState", key: "deploymentId",
    unknownRegion: "internal", namespaced: true, states: ["running", "stopped"] },
  sentinel: { watch: "watchSentinels", get: "getDesiredSentinelState", key: "sentinelId",
    unknownRegion: "invalid_argument", namespaced: false, states: ["running", "standby", "archived"] },
  cilium_network_policy: { watch: "watchCiliumNetworkPolicies", get: "getDesiredCiliumNetworkPolicyState",
    key: "ciliumNetworkPolicyId", unknownRegion: "internal", namespaced: true, states: ["running"] },
};
for (const kind of Object.values(KINDS)) {
  kind.state = ClusterService.method[kind.watch].output;
  kind.applied = kind.state.field.apply.message;
}

export class Table {
  constructor() {
    this.regions = new Map(); // name -> {platform, counter, rows: {kind: Map of id -> row}}
    this.instances = new Map(); // "region/k8s_name" -> what was reported last
    this.sentinels = new Map(); // k8s_name -> what was reported last
  }

  create(name, platform) {
    if (!this.regions.has(name)) {
      const rows = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, new Map()]));
      this.regions.set(name, { platform, counter: 0, rows });
    }
    return this.regions.get(name);
  }

  // By name and platform; undefined: it is not in the table.
  region(name, platform) {
    const found = this.regions.get(name);
    return found?.platform === platform ? found : undefined;
  }

  // A version is taken in one step and written in a later one, perhaps after a greater one (5.1).
  allocate(name) {
    return ++this.regions.get(name).counter;
  }

  // A row has its newest content only. `broken`: a row that cannot be turned into a message.
  put(name, kind, id, { state = "running", apply, version, broken = false }) {
    const { rows } = this.regions.get(name), before = rows[kind].get(id);
    if (!KINDS[kind].states.includes(state)) throw new Error(`${kind} ${id}: there is no state ${state}`);
    const row = { state, apply: apply ?? before?.apply, version: version ?? this.allocate(name), broken };
    rows[kind].set(id, row);
    return row.version;
  }

  // Hard: no stream ever hears of it.
  drop(name, kind, id) {
    this.regions.get(name).rows[kind].delete(id);
  }

  // Rows of one kind with a greater version, in its order.
  page(region, kind, cursor, most) {
    const found = [...region.rows[kind].values()].filter((row) => row.version > cursor);
    return found.sort((a, b) => a.version - b.version).slice(0, most);
  }

  row(kind, id, region) {
    for (const [name, { rows }] of this.regions) {
      if ((region === undefined || region === name) && rows[kind].has(id)) return rows[kind].get(id);
    }
    return undefined;
  }

  // Of all regions: a deployment's name is unique. The one with this name, or undefined.
  deploymentNamed(name) {
    for (const { rows } of this.regions.values()) {
      for (const row of rows.deployment.values()) if (row.apply.k8sName === name) return row;
    }
    return undefined;
  }

  // The counter is kept elsewhere and may be lost (5.1): rows are written anew with small versions.
  forgetCounter(name) {
    const region = this.regions.get(name);
    region.counter = 0;
    for (const kind of Object.keys(KINDS)) {
      for (const row of region.rows[kind].values()) row.version = ++region.counter;
    }
  }
}
