// The official Connect client, told what to call. A line of stdin is a call or says something about one:
//
//   {"id": 1, "method": "ctrl.v1.ClusterService/WatchDeployments", "message": {...}, "headers": [["a", "b"], ...],
//    "url": "http://127.0.0.1:1", "http": "2", "protocol": "connect", "format": "proto", "timeout_ms": 1000}
//   {"id": 1, "do": "cancel"}           also "hold" (no further message is read) and "go"
//
// http: "1.1" or "2"; protocol: "connect", "grpc" or "grpc-web"; format: "proto" or "json"; beside them "ca" (a file),
// "path" (in place of the method's), "bytes" (base64, in place of "message": sent as they are, good or bad), "gzip"
// (true: requests are compressed) and "plain" (true: no compressed answers are asked for). A line of stdout is
//
//   {"id": 1, "headers": [...]}         of a stream, when they are there
//   {"id": 1, "message": {...}}         64-bit numbers are strings, names are those of the protos
//   {"id": 1, "error": {"code": "not_found", "message": "...", "metadata": [...]}}
//   {"id": 1, "end": true, "headers": [...], "trailers": [...]}
//
// and the last one of each call is an error or an end.
import { readFileSync } from "node:fs";
import { obey, pairs, say } from "./lines.mjs";
import { codeName, connect, connectNode, methodOf, protobuf } from "./packages.mjs";

const makers = {
  connect: connectNode.createConnectTransport,
  grpc: connectNode.createGrpcTransport,
  "grpc-web": connectNode.createGrpcWebTransport,
};
const pathKey = connect.createContextKey(null);
const anotherPath = (next) => (request) => {
  const path = request.contextValues.get(pathKey);
  return next(path === null ? request : { ...request, url: new URL(path, request.url).toString() });
};

// Calls of the same kind share a connection, as those of one program do.
const transports = new Map();
function transportOf(call) {
  const { url, http = "2", protocol = "connect", format = "proto", ca, gzip, plain } = call;
  const key = JSON.stringify([url, http, protocol, format, ca, gzip, plain]);
  if (!transports.has(key)) {
    transports.set(key, makers[protocol]({
      baseUrl: url, httpVersion: http, useBinaryFormat: format === "proto", interceptors: [anotherPath],
      nodeOptions: ca ? { ca: readFileSync(ca) } : {}, readMaxBytes: 1 << 30, writeMaxBytes: 1 << 30,
      ...(gzip ? { sendCompression: connectNode.compressionGzip, compressMinBytes: 0 } : {}),
      ...(plain ? { acceptCompression: [] } : {}),
    }));
  }
  return transports.get(key);
}

// A message that is encoded as these bytes: as a field nobody knows, of which only the tag is looked at.
function ofBytes(schema, bytes) {
  const message = protobuf.create(schema);
  if (bytes.length === 0) return message;
  let tag = 0, read = 0;
  do {
    tag += (bytes[read] & 0x7f) * 2 ** (7 * read);
  } while (bytes[read++] >= 0x80);
  message.$unknown = [{ no: Math.floor(tag / 8), wireType: tag % 8, data: bytes.subarray(read) }];
  return message;
}

function inputOf(call, schema) {
  if (call.bytes !== undefined) return ofBytes(schema, Buffer.from(call.bytes, "base64"));
  return protobuf.fromJson(schema, call.message ?? {}, { ignoreUnknownFields: false });
}

const calls = new Map(); // id -> {controller, gate}

async function answer(call, state) {
  const method = methodOf(call.method), transport = transportOf(call), input = inputOf(call, method.input);
  const headers = new Headers();
  for (const [key, value] of call.headers ?? []) headers.append(key, value);
  const context = connect.createContextValues().set(pathKey, call.path ?? null);
  const send = (message) =>
    say({ id: call.id, message: protobuf.toJson(method.output, message, { useProtoFieldName: true }) });
  const how = [method, state.controller.signal, call.timeout_ms, headers];
  if (method.methodKind === "unary") {
    const response = await transport.unary(...how, input, context);
    send(response.message);
    return response;
  }
  const response = await transport.stream(...how, (async function* () { yield input; })(), context);
  say({ id: call.id, headers: pairs(response.header) });
  for await (const message of response.message) {
    send(message);
    await state.gate;
  }
  return response;
}

async function make(call) {
  const state = { controller: new AbortController(), gate: null, open: null };
  calls.set(call.id, state);
  try {
    const response = await answer(call, state);
    say({ id: call.id, end: true, headers: pairs(response.header), trailers: pairs(response.trailer) });
  } catch (thrown) {
    const error = connect.ConnectError.from(thrown);
    say({ id: call.id, error: {
      code: codeName(error.code), message: error.rawMessage, metadata: pairs(error.metadata) } });
  }
  calls.delete(call.id);
}

function about(command) {
  const state = calls.get(command.id);
  if (!state) return; // it has ended
  if (command.do === "cancel") state.controller.abort();
  if (command.do === "hold") state.gate = new Promise((resolve) => { state.open = resolve; });
  if (command.do === "go" || command.do === "cancel") state.open?.();
}

obey((command) => (command.do ? about(command) : make(command)));
