// One of the three controllers of a Krane agent as of 2026-04-02: the loop of its stream and the loop that compares
// what is there with the control plane, with a map in place of Kubernetes. Every call is one that Krane makes, in its
// order.
import { pause } from "./lines.mjs";
import { codeName, connect } from "./packages.mjs";

const { Code, ConnectError } = connect;

export const KINDS = {
  deployment: { watch: "watchDeployments", get: "getDesiredDeploymentState", key: "deploymentId", resets: true },
  sentinel: { watch: "watchSentinels", get: "getDesiredSentinelState", key: "sentinelId", resets: false },
  cilium_network_policy: { watch: "watchCiliumNetworkPolicies", get: "getDesiredCiliumNetworkPolicyState",
    key: "ciliumNetworkPolicyId", resets: false },
};

// Whole milliseconds, uniformly.
const between = (least, most) => least + Math.floor(Math.random() * (most - least + 1));

export class Controller {
  constructor(agent, kind) {
    this.agent = agent;
    this.names = KINDS[kind];
    this.kind = kind;
    this.objects = new Map(); // "namespace/name" -> {id, apply}
    this.cursor = 0n;
    this.lastReset = Date.now();
    this.handled = 0;
  }

  run() {
    this.resyncLoop();
    this.streamLoop();
  }

  // --- the stream -----------------------------------------------------------------------------------------------

  async streamLoop() {
    const { options, counters } = this.agent;
    for (;;) {
      await pause(between(options.reconnect_min_ms, options.reconnect_max_ms));
      if (this.names.resets && options.reset_ms > 0 && Date.now() - this.lastReset >= options.reset_ms) {
        this.cursor = 0n;
        this.lastReset = Date.now();
        ++counters.resets;
      }
      try {
        await this.followStream();
      } catch (error) {
        counters.failed(`stream ${codeName(ConnectError.from(error).code)}`);
      }
    }
  }

  async followStream() {
    const { options, counters, client } = this.agent;
    const controller = new AbortController();
    // Later revisions begin anew at that time, too, when nothing is wrong with the stream.
    const timer = this.names.resets && options.reset_ms > 0 && options.reset_healthy
      ? setTimeout(() => controller.abort(), Math.max(0, this.lastReset + options.reset_ms - Date.now())) : null;
    ++counters.streams;
    try {
      const request = { region: options.region, versionLastSeen: this.cursor };
      const messages = client[this.names.watch](request, this.agent.call(controller.signal))[Symbol.asyncIterator]();
      for (;;) {
        const { done, value } = await messages.next();
        if (done) return;
        ++counters.messages;
        if (!(await this.handle(value))) {
          // The mistake of Krane: what it was reading from stays open, and nobody reads it.
          this.agent.abandoned.push({ messages, controller });
          ++counters.abandoned;
          return;
        }
        if (value.version > this.cursor) this.cursor = value.version;
      }
    } finally {
      clearTimeout(timer);
    }
  }

  // False: it could not be applied, its report included.
  async handle({ state }) {
    const { options } = this.agent;
    if (options.abandon_every > 0 && ++this.handled % options.abandon_every === 0) return false;
    try {
      if (state.case === "apply") await this.apply(state.value);
      if (state.case === "delete") await this.remove(state.value.k8sNamespace ?? "", state.value.k8sName);
      return true;
    } catch {
      return false;
    }
  }

  // --- what is done with a state --------------------------------------------------------------------------------

  async apply(message) {
    const key = `${message.k8sNamespace ?? ""}/${message.k8sName}`;
    const object = { id: message[this.names.key], apply: message };
    this.objects.set(key, object);
    ++this.agent.counters.applies;
    await this.report(object); // always, changed or not
  }

  async remove(namespace, name) {
    this.objects.delete(`${namespace}/${name}`);
    ++this.agent.counters.deletes;
    if (this.kind === "deployment") {
      await this.send("reportDeploymentStatus", { change: { case: "delete", value: { k8sName: name } } });
    } else if (this.kind === "sentinel") {
      await this.send("reportSentinelStatus", { k8sName: name, availableReplicas: 0, health: 2 });
    }
  }

  async report(object) {
    const { apply } = object;
    if (this.kind === "deployment") {
      const count = apply.autoscaling?.minReplicas ?? apply.replicas ?? 0;
      const instances = Array.from({ length: count }, (_, n) => ({
        k8sName: `${apply.k8sName}-${n}`, address: `10-0-0-${n}.${apply.k8sNamespace}.pod.cluster.local:${apply.port}`,
        cpuMillicores: apply.cpuMillicores, memoryMib: apply.memoryMib, status: 2 }));
      const update = { k8sName: apply.k8sName, instances };
      await this.send("reportDeploymentStatus", { change: { case: "update", value: update } });
    } else if (this.kind === "sentinel") {
      const health = apply.replicas === 0 ? 3 : 1;
      await this.send("reportSentinelStatus", { k8sName: apply.k8sName, availableReplicas: apply.replicas, health });
    }
  }

  async send(method, message) {
    const { counters } = this.agent;
    try {
      await this.agent.unary(method, message);
      ++counters.reports;
    } catch (error) {
      counters.failed(`${method} ${codeName(ConnectError.from(error).code)}`);
      throw error;
    }
  }

  // --- the comparison -------------------------------------------------------------------------------------------

  // At start and then each minute, run to its end; a late tick is not made up for. The report that Krane makes when
  // pods have changed is left out: there are none.
  async resyncLoop() {
    const { options } = this.agent;
    for (;;) {
      const begin = Date.now();
      for (const [key, object] of [...this.objects]) {
        if (!this.objects.has(key)) continue;
        await this.resync(key, object);
      }
      ++this.agent.counters.resyncs;
      await pause(Math.max(1, options.resync_ms - (Date.now() - begin)));
    }
  }

  async resync(key, object) {
    const { counters } = this.agent;
    ++counters.queries;
    try {
      const { state, version } = await this.agent.unary(this.names.get, { [this.names.key]: object.id });
      if (version !== 0n) counters.failed("a point query with a version");
      if (state.case === "apply") await this.apply(state.value);
      if (state.case === "delete") await this.remove(state.value.k8sNamespace ?? "", state.value.k8sName);
    } catch (thrown) {
      const error = ConnectError.from(thrown);
      if (error.code !== Code.NotFound) {
        counters.failed(`${this.names.get} ${codeName(error.code)}`);
        return;
      }
      ++counters.not_found;
      const [namespace, name] = key.split("/");
      await this.remove(namespace, name).catch(() => {});
    }
  }

  // What is there, for a test to compare.
  digest() {
    return Object.fromEntries([...this.objects].map(([key, { id, apply }]) => [
      key, { id, image: apply.image ?? "", replicas: apply.replicas ?? 0 }]));
  }
}
