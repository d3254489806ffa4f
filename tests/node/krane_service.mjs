// The methods of a Krane control plane as of 2026-04-02, habit by habit: what each does wrong, it does wrong here too.
// It tells what it is asked through `say`, and does what the test injects: see krane_control_plane.mjs.
import { pairs, pause } from "./lines.mjs";
import { codeName, codeNamed, connect, protobuf, ClusterService } from "./packages.mjs";
import { KINDS } from "./krane_table.mjs";

const { Code, ConnectError } = connect;
const PAGE_ROWS = 100;
const NO_ROWS = "sql: no rows in result set";
const STATUS = ["inactive", "pending", "running", "failed"];
const HEALTH = ["unknown", "healthy", "unhealthy", "paused"];

function refuse(code, message) {
  throw new ConnectError(message, codeNamed(code));
}

export class KraneService {
  constructor(table, { token, pollMs, say }) {
    this.table = table;
    this.token = token;
    this.pollMs = pollMs;
    this.say = say;
    this.failures = []; // {method, code, message, times, after}
    this.streams = new Map(); // id -> {kind, region, extra: states to be sent, end, silent}
    this.silent = new Set(); // kinds whose streams say nothing, though they are open
    this.delays = new Map(); // method -> ms before it answers
    this.made = 0;
  }

  routes(router) {
    const methods = {};
    for (const kind of Object.keys(KINDS)) {
      methods[KINDS[kind].watch] = (request, context) => this.watch(kind, request, context);
      methods[KINDS[kind].get] = this.unary(KINDS[kind].get, (request, where) => this.get(kind, request, where));
    }
    methods.reportDeploymentStatus = this.unary("reportDeploymentStatus", this.reportDeployment);
    methods.reportSentinelStatus = this.unary("reportSentinelStatus", this.reportSentinel);
    methods.heartbeat = this.unary("heartbeat", this.heartbeat);
    router.service(ClusterService, methods);
  }

  // --- what every handler begins with ---------------------------------------------------------------------------

  authenticate(context) {
    const header = context.requestHeader.get("authorization");
    if (!header) refuse("unauthenticated", "missing Authorization header");
    if (!header.startsWith("Bearer ")) refuse("unauthenticated", "invalid Authorization header");
    if (header.slice("Bearer ".length) !== this.token) refuse("unauthenticated", "invalid bearer token");
  }

  where(context) {
    const region = context.requestHeader.get("x-krane-region");
    const platform = context.requestHeader.get("x-krane-platform");
    if (!region) refuse("invalid_argument", "region is required");
    if (!platform) refuse("invalid_argument", "platform is required");
    return { region, platform };
  }

  // The failure that a test has ordered for this method, if it has.
  ordered(method) {
    const found = this.failures.find((f) => f.method === method && f.times > 0);
    if (found) --found.times;
    return found;
  }

  unary(name, handle) {
    const method = ClusterService.method[name];
    return async (request, context) => {
      const event = { event: "call", method: method.name, headers: Object.fromEntries(pairs(context.requestHeader)),
        message: protobuf.toJson(method.input, request, { useProtoFieldName: true }) };
      try {
        if (this.delays.has(method.name)) await pause(this.delays.get(method.name));
        const failure = this.ordered(method.name);
        if (failure) refuse(failure.code, failure.message);
        this.authenticate(context);
        const answer = handle.call(this, request, name === "heartbeat" ? null : this.where(context));
        this.say({ ...event, code: "ok" });
        return answer ?? protobuf.create(method.output);
      } catch (error) {
        this.say({ ...event, code: codeName(ConnectError.from(error).code) });
        throw error;
      }
    };
  }

  // --- the three watches ----------------------------------------------------------------------------------------

  async *watch(kind, request, context) {
    const method = ClusterService.method[KINDS[kind].watch].name, id = ++this.made;
    const said = { id, method, kind, version_last_seen: Number(request.versionLastSeen), region: request.region,
      headers: Object.fromEntries(pairs(context.requestHeader)) };
    let code = "canceled", sent = 0;
    try {
      const failure = this.ordered(method);
      if (failure && !failure.after) refuse(failure.code, failure.message);
      this.authenticate(context);
      const { region: name, platform } = this.where(context);
      const region = this.table.region(name, platform);
      if (!region) refuse(KINDS[kind].unknownRegion, NO_ROWS);
      const stream = { kind, region, extra: [], end: null };
      this.streams.set(id, stream);
      this.say({ event: "stream", ...said });
      for await (const state of this.states(stream, Number(request.versionLastSeen), context)) {
        if (failure && sent === failure.after) refuse(failure.code, failure.message);
        ++sent;
        yield state;
      }
      if (stream.end) code = "ok"; // never Krane's own doing
    } catch (error) {
      code = codeName(ConnectError.from(error).code);
      throw error;
    } finally {
      const open = this.streams.delete(id);
      this.say({ event: open ? "stream_end" : "stream_refused", ...said, code, sent });
    }
  }

  // Until the caller is gone, which is looked at between two queries only.
  async *states(stream, cursor, context) {
    while (!context.signal.aborted) {
      let sent = 0;
      const page = this.silent.has(stream.kind) ? [] : this.table.page(stream.region, stream.kind, cursor, PAGE_ROWS);
      for (const row of page) {
        if (row.broken) continue; // logged and dropped; a page of nothing else is read again for ever
        yield this.state(stream.kind, row, row.version);
        cursor = Math.max(cursor, row.version);
        ++sent;
      }
      while (stream.extra.length > 0) yield protobuf.fromJson(KINDS[stream.kind].state, stream.extra.shift());
      if (stream.end) {
        if (stream.end.code === "ok") return;
        refuse(stream.end.code, stream.end.message);
      }
      if (sent === 0) await pause(this.pollMs);
    }
    refuse("canceled", "context canceled");
  }

  state(kind, row, version) {
    const { applied, state, namespaced } = KINDS[kind];
    const at = { k8sName: row.apply.k8sName, ...(namespaced ? { k8sNamespace: row.apply.k8sNamespace } : {}) };
    const change = row.state === "running" ? { case: "apply", value: protobuf.fromJson(applied, row.apply) }
      : { case: "delete", value: protobuf.create(state.field.delete.message, at) };
    return protobuf.create(state, { state: change, version: BigInt(version) });
  }

  // --- the others -----------------------------------------------------------------------------------------------

  get(kind, request, { region, platform }) {
    const id = request[KINDS[kind].key];
    if (kind === "cilium_network_policy") {
      if (!id) refuse("invalid_argument", "cilium network policy id is required");
      if (!this.table.region(region, platform)) refuse("not_found", NO_ROWS);
    }
    // A sentinel is given to every region.
    const row = this.table.row(kind, id, kind === "sentinel" ? undefined : region);
    if (!row) refuse("not_found", NO_ROWS);
    return this.state(kind, row, 0);
  }

  reportDeployment(request, { region, platform }) {
    if (!this.table.region(region, platform)) refuse("invalid_argument", NO_ROWS);
    const { case: verb, value } = request.change;
    if (verb === undefined) return;
    if (!this.table.deploymentNamed(value.k8sName)) refuse("unknown", NO_ROWS);
    const key = `${region}/${value.k8sName}`;
    if (verb === "delete") {
      this.table.instances.delete(key);
    } else {
      this.table.instances.set(key, value.instances.map((i) => ({
        name: i.k8sName, address: i.address, status: STATUS[i.status] ?? "inactive" })));
    }
  }

  reportSentinel(request) {
    if (HEALTH[request.health] === undefined) refuse("internal", "Data truncated for column 'health' at row 1");
    this.table.sentinels.set(request.k8sName, { available: request.availableReplicas, health: HEALTH[request.health] });
  }

  heartbeat({ region, platform }) {
    if (!region || !platform) throw new ConnectError("region and platform are required", Code.Unknown);
    this.table.create(region, platform);
  }
}
