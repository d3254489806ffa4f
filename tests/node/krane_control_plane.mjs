// A scripted Krane control plane on the Connect server library: krane_service.mjs behind a listener of its own.
//
//   krane_control_plane.mjs '{"port": 0, "http": "2", "token": "...", "poll_ms": 1000}'
//
// Commands, each answered by {"done": its number}:
//   {"do": "region", "region": "eu-1", "platform": "aws"}       else its first heartbeat makes it
//   {"do": "set", "region": .., "kind": .., "id": .., "state": "running", "apply": {..}}   with "version" (one of
//                                                              "allocate", out of turn), or "broken": true
//   {"do": "allocate", "region": ..}                           answers with "version", which nobody has written yet
//   {"do": "drop", "region": .., "kind": .., "id": ..}         a hard delete
//   {"do": "forget_counter", "region": ..}                     all versions begin anew
//   {"do": "send", "kind": .., "state": {..}}                  a message on every open stream of the kind, as it is
//   {"do": "end", "kind": .., "code": .., "message": ..}       its open streams end; "ok" is what Krane never does
//   {"do": "fail", "method": .., "code": .., "message": .., "times": 1, "after": 0}   streams after so many messages
//   {"do": "silent", "kind": .., "on": true}                   its streams stay open and say nothing
//   {"do": "delay", "method": .., "ms": ..}
//   {"do": "token", "token": ..}
//   {"do": "down"}, {"do": "up"}                               the listener and all connections; the tables stay
//   {"do": "reported"}                                         answers with "instances" and "sentinels"
//
// Events: {"event": "listening", "port": ..}, "stream", "stream_refused" and "stream_end" (id, method, kind, headers,
// version_last_seen, code, sent), "call" (method, headers, message, code).
import { createServer as createHttp } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import { obey, say } from "./lines.mjs";
import { connectNode, protobuf } from "./packages.mjs";
import { KraneService } from "./krane_service.mjs";
import { KINDS, Table } from "./krane_table.mjs";

const options = { port: 0, http: "2", poll_ms: 1000, ...JSON.parse(process.argv[2] ?? "{}") };
const table = new Table();
const service = new KraneService(table, { token: options.token, pollMs: options.poll_ms, say });
// A peer that says it takes gzip is given nothing else, however short the message. Headers of a stream go out with its
// first message: until then a caller sees nothing at all, as with Krane.
const handle = connectNode.connectNodeAdapter({
  routes: (router) => service.routes(router), compressMinBytes: 0, acceptCompression: [connectNode.compressionGzip] });

let server = null;
const sessions = new Set();

function listen() {
  server = options.http === "2" ? createHttp2({ settings: { maxConcurrentStreams: 250 } }, handle) : createHttp(handle);
  server.on(options.http === "2" ? "session" : "connection", (one) => {
    sessions.add(one);
    one.on("error", () => {}); // of the caller's side, who has gone
    one.on("close", () => sessions.delete(one));
  });
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(options.port, "127.0.0.1", () => {
      options.port = server.address().port;
      say({ event: "listening", port: options.port });
      resolve();
    });
  });
}

// As a process that ends: connections break off.
function down() {
  const closed = new Promise((resolve) => server.close(resolve));
  for (const one of sessions) one.destroy();
  return closed;
}

// JSON of the apply message, from names as in the protos to those that rows are read by.
function applied(kind, apply) {
  const { applied: schema } = KINDS[kind];
  return apply && protobuf.toJson(schema, protobuf.fromJson(schema, apply));
}

const actions = {
  region: (c) => void table.create(c.region, c.platform),
  set: (c) => ({ version: table.put(c.region, c.kind, c.id, { ...c, apply: applied(c.kind, c.apply) }) }),
  allocate: (c) => ({ version: table.allocate(c.region) }),
  drop: (c) => table.drop(c.region, c.kind, c.id),
  forget_counter: (c) => table.forgetCounter(c.region),
  send: (c) => each(c.kind, (stream) => stream.extra.push(c.state)),
  end: (c) => each(c.kind, (stream) => { stream.end = { code: c.code, message: c.message ?? "" }; }),
  fail: (c) => void service.failures.push({ times: 1, after: 0, message: "", ...c }),
  silent: (c) => void (c.on === false ? service.silent.delete(c.kind) : service.silent.add(c.kind)),
  delay: (c) => void service.delays.set(c.method, c.ms),
  token: (c) => { service.token = c.token; },
  down,
  up: listen,
  reported: () => ({ instances: Object.fromEntries(table.instances), sentinels: Object.fromEntries(table.sentinels) }),
};

function each(kind, act) {
  const streams = [...service.streams.values()].filter((s) => s.kind === kind);
  streams.forEach(act);
  return { streams: streams.length };
}

let number = 0;
await listen();
obey(async (command) => {
  const mine = ++number;
  say({ done: mine, ...(await actions[command.do](command)) });
});
