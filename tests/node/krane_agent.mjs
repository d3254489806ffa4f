// Scripted Krane agents, many in one process, each with a connection of its own.
//
//   krane_agent.mjs '{"url": "http://127.0.0.1:1", "token": "..", "regions": ["eu-1", ...]}'      an agent for each
//
// also, with what is Krane's as the default: "platform", "protocol" ("connect" or "grpc"), "http" ("2"),
// "heartbeat_ms", "resync_ms", "reconnect_min_ms", "reconnect_max_ms", "reset_ms" (0: never), "reset_healthy" (false:
// only between two streams, as in 2026-04), and "abandon_every": one in so many messages cannot be applied, and its
// stream is left open.
//
// Commands: {"do": "counters"} and {"do": "objects", "agent": 0}. At the end of stdin all ends, with the counters said.
import { createInterface } from "node:readline";
import { Controller, KINDS } from "./krane_controller.mjs";
import { pause, say } from "./lines.mjs";
import { codeName, connect, connectNode, ClusterService } from "./packages.mjs";

const options = {
  platform: "aws", protocol: "connect", http: "2", heartbeat_ms: 30_000, resync_ms: 60_000, reconnect_min_ms: 1000,
  reconnect_max_ms: 5000, reset_ms: 300_000, reset_healthy: true, abandon_every: 0, ...JSON.parse(process.argv[2]),
};
const create = { connect: connectNode.createConnectTransport, grpc: connectNode.createGrpcTransport }[options.protocol];
const begin = Date.now();

class Counters {
  constructor() {
    Object.assign(this, { messages: 0, applies: 0, deletes: 0, reports: 0, queries: 0, not_found: 0, heartbeats: 0,
      streams: 0, abandoned: 0, resets: 0, resyncs: 0, failures: {} });
  }

  failed(what) {
    this.failures[what] = (this.failures[what] ?? 0) + 1;
  }
}

class Agent {
  constructor(region) {
    this.options = { ...options, region };
    this.counters = new Counters();
    this.abandoned = [];
    // As Krane's: HTTP/2 with a PING after ten quiet seconds, and five for its answer; no deadlines on any call.
    const transport = create({ baseUrl: options.url, httpVersion: options.http, pingIntervalMs: 10_000,
      pingIdleConnection: true, pingTimeoutMs: 5000 });
    this.client = connect.createClient(ClusterService, transport);
    this.headers = { authorization: `Bearer ${options.token}`, "x-krane-region": region,
      "x-krane-platform": options.platform };
    this.controllers = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, new Controller(this, kind)]));
  }

  call(signal) {
    return { headers: this.headers, signal };
  }

  unary(method, message) {
    return this.client[method](message, { headers: this.headers });
  }

  run() {
    this.heartbeatLoop();
    for (const controller of Object.values(this.controllers)) controller.run();
  }

  async heartbeatLoop() {
    for (;;) {
      try {
        await this.unary("heartbeat", { region: this.options.region, platform: options.platform });
        ++this.counters.heartbeats;
      } catch (error) {
        this.counters.failed(`heartbeat ${codeName(connect.ConnectError.from(error).code)}`);
      }
      await pause(options.heartbeat_ms);
    }
  }
}

const agents = options.regions.map((region) => new Agent(region));

const eachKind = (controllers, read) =>
  Object.fromEntries(Object.entries(controllers).map(([kind, controller]) => [kind, read(controller)]));

function counters() {
  return { event: "counters", seconds: (Date.now() - begin) / 1000, memory_bytes: process.memoryUsage().rss,
    agents: agents.map(({ options: { region }, counters: its, controllers }) => ({
      region, ...its, objects: eachKind(controllers, (c) => c.objects.size) })) };
}

const actions = {
  counters,
  objects: ({ agent }) => ({
    event: "objects", agent, objects: eachKind(agents[agent].controllers, (c) => c.digest()) }),
};

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const command = JSON.parse(line);
  say(actions[command.do](command));
});
lines.on("close", () => {
  say({ ...counters(), event: "end" });
  process.exit(0);
});
agents.forEach((agent) => agent.run());
