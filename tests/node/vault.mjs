// A scripted Vault on the Connect server library: vault.v1.VaultService/DecryptBulk, as the original Krane's agents call it.
//
//   vault.mjs '{"port": 0, "http": "1.1", "token": "..."}'
//
// http: "1.1" or "2" (over TLS alone, where it offers both); beside them "certificate" and "key" (files: TLS), "client_ca"
// (a file: clients show a certificate of it). A ciphertext is the base64 of "KEYRING PLAINTEXT". One that is of another
// keyring, or is none, fails the whole call with `internal`, as in the original.
//
// Commands, each answered by {"done": its number}:
//   {"do": "behave", "as": .., "times": 1}    how the next calls are treated, one entry after the other:
//      "fail"       with an error of Connect: "code", "message", "headers" ({})
//      "status"     with an HTTP answer of a proxy: "status", "headers" ({}), "body"
//      "garbage"    with bytes that are no message
//      "huge"       with "bytes" of them; "length": true says so beforehand
//      "endless"    with a byte now and then
//      "silent"     never
//      "slow"       after "ms"
//      "cut"        the connection breaks before the answer; "cut_late": in the middle of it
//      "leave_out"  the first value is missing; "add": there is one more; "rename": the names are others
//   {"do": "rotate", "token": .., "tell": FILE}   only the new token is good; before that it is written into the file
//   {"do": "storage", "away": true}           every call fails with `internal`
//   {"do": "calls"}                           answers with "calls", which are forgotten: keyring, items, code, http, timeout
//   {"do": "encrypt", "keyring": .., "length": ..}   answers with the "ciphertext" of a random value, and with the value
//                                             "masked": each character is the one before its own
//   {"do": "down"}, {"do": "up"}              the listener and all connections
//   {"do": "reset"}                           as at the start
//
// Events: {"event": "listening", "port": ..}.
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttp } from "node:http";
import { createSecureServer as createHttp2 } from "node:http2";
import { createServer as createHttps } from "node:https";
import { obey, pause, say } from "./lines.mjs";
import { codeName, codeNamed, connect, connectNode, VaultService } from "./packages.mjs";

const { Code, ConnectError } = connect;
const options = { port: 0, http: "1.1", token: "", ...JSON.parse(process.argv[2] ?? "{}") };
const behaviourKey = connect.createContextKey(null), httpKey = connect.createContextKey("");

let state;
function reset() {
  state = { token: options.token, behaviours: [], calls: [], away: false, rotate: null };
}
reset();

function decrypt(keyring, ciphertext) {
  const [of, ...plaintext] = Buffer.from(ciphertext, "base64").toString("utf8").split(" ");
  if (of !== keyring || plaintext.length === 0) throw new ConnectError("cipher: message authentication failed", Code.Internal);
  return plaintext.join(" ");
}

function authenticate(context) {
  if (state.rotate) { // it comes between the client's look at its file and our look at the token
    state.token = state.rotate.token;
    if (state.rotate.tell) writeFileSync(state.rotate.tell, state.token);
    state.rotate = null;
  }
  if (context.requestHeader.get("authorization") !== `Bearer ${state.token}`)
    throw new ConnectError("invalid bearer token", Code.Unauthenticated);
}

async function decryptBulk({ keyring, items }, context) {
  const behaviour = context.values.get(behaviourKey);
  if (behaviour?.as === "slow") await pause(behaviour.ms);
  if (behaviour?.as === "fail")
    throw new ConnectError(behaviour.message ?? "", codeNamed(behaviour.code), new Headers(behaviour.headers ?? {}));
  authenticate(context);
  if (state.away) throw new ConnectError("storage: connection refused", Code.Internal);
  const answer = {};
  for (const [name, ciphertext] of Object.entries(items)) answer[name] = decrypt(keyring, ciphertext);
  const names = Object.keys(answer);
  if (behaviour?.as === "leave_out") delete answer[names[0]];
  if (behaviour?.as === "add") answer.nobody_asked = "a stranger's value";
  if (behaviour?.as === "rename") return { items: Object.fromEntries(names.map((name) => [`0${name}`, answer[name]])) };
  return { items: answer };
}

async function recorded(request, context) {
  const call = { keyring: request.keyring, items: Object.keys(request.items).length, code: "ok",
    http: context.values.get(httpKey), timeout: context.timeoutMs() ?? null };
  state.calls.push(call);
  try {
    return await decryptBulk(request, context);
  } catch (error) {
    call.code = codeName(ConnectError.from(error).code);
    throw error;
  }
}

const adapter = connectNode.connectNodeAdapter({
  routes: (router) => router.service(VaultService, { decryptBulk: recorded }),
  contextValues: (request) => connect.createContextValues()
    .set(behaviourKey, request.behaviour).set(httpKey, request.httpVersion),
});

const PIECE = Buffer.alloc(64 << 10, 7);
function breakOff(response) {
  (response.stream?.session ?? response.socket).destroy();
}

async function stream(response, bytes) {
  const gone = new Promise((resolve) => { response.once("close", resolve); });
  for (let sent = 0; sent < bytes && !response.destroyed && !response.writableEnded; sent += PIECE.length) {
    if (!response.write(PIECE.subarray(0, Math.min(PIECE.length, bytes - sent))))
      await Promise.race([gone, new Promise((resolve) => { response.once("drain", resolve); })]);
  }
  response.end();
}

// What no Connect service would do.
const raw = {
  status(response, { status, headers, body }) {
    response.writeHead(status, headers ?? {});
    response.end(body ?? "");
  },
  garbage(response) {
    response.writeHead(200, { "content-type": "application/proto" });
    response.end(Buffer.from("0affffffff07", "hex"));
  },
  huge(response, { bytes, length }) {
    response.writeHead(200, { "content-type": "application/proto", ...(length ? { "content-length": bytes } : {}) });
    return stream(response, bytes);
  },
  async endless(response) {
    response.writeHead(200, { "content-type": "application/proto" });
    while (!response.destroyed && response.writable) {
      response.write(PIECE.subarray(0, 1));
      await pause(50);
    }
  },
  silent() {},
  cut: breakOff,
  cut_late(response) {
    response.writeHead(200, { "content-type": "application/proto", "content-length": 1000 });
    response.write(PIECE.subarray(0, 10), () => breakOff(response));
  },
};

function handle(request, response) {
  const behaviour = state.behaviours[0] ?? null;
  if (behaviour && --behaviour.times === 0) state.behaviours.shift();
  response.on("error", () => {}); // of a client that has gone
  request.on("error", () => {});
  const act = raw[behaviour?.as];
  if (!act) {
    request.behaviour = behaviour;
    return adapter(request, response);
  }
  state.calls.push({ behaviour: behaviour.as, http: request.httpVersion });
  request.resume();
  request.on("end", () => act(response, behaviour));
}

let server = null;
const sockets = new Set();

function made() {
  if (!options.certificate) return createHttp(handle);
  const tls = { cert: readFileSync(options.certificate), key: readFileSync(options.key),
    ...(options.client_ca ? { ca: readFileSync(options.client_ca), requestCert: true, rejectUnauthorized: true } : {}) };
  return options.http === "2" ? createHttp2({ ...tls, allowHTTP1: true }, handle) : createHttps(tls, handle);
}

function listen() {
  server = made();
  for (const event of ["connection", "secureConnection"]) {
    server.on(event, (one) => {
      sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => sockets.delete(one));
    });
  }
  server.on("tlsClientError", () => {});
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
  if (!server.listening) return undefined;
  const closed = new Promise((resolve) => server.close(resolve));
  for (const one of sockets) one.destroy();
  return closed;
}

function encrypt({ keyring, length }) {
  const value = randomBytes(length).toString("hex").slice(0, length);
  return { ciphertext: Buffer.from(`${keyring} ${value}`).toString("base64"),
    masked: [...value].map((c) => String.fromCharCode(c.charCodeAt(0) - 1)).join("") };
}

const actions = {
  behave: (c) => void state.behaviours.push({ times: 1, ...c }),
  rotate: (c) => { state.rotate = c; },
  storage: (c) => { state.away = c.away; },
  encrypt,
  calls: () => ({ calls: state.calls.splice(0) }),
  down,
  up: () => (server.listening ? undefined : listen()),
  reset: async () => {
    reset();
    if (!server.listening) await listen();
  },
};

let number = 0;
await listen();
obey(async (command) => {
  const mine = ++number;
  say({ done: mine, ...(await actions[command.do](command)) });
});
