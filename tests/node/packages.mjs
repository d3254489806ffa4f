// The Connect libraries out of the folder that node.sh has made, and our protos. What generated code would carry,
// protoc gives at start: protobuf-es makes messages and clients from descriptors as well as from generated modules.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(join(process.env.DAVIT_NODE_PACKAGES, "package.json"));
export const connect = require("@connectrpc/connect");
export const connectNode = require("@connectrpc/connect-node");
export const protobuf = require("@bufbuild/protobuf");
const { FileDescriptorSetSchema } = require("@bufbuild/protobuf/wkt");

function descriptors() {
  const here = dirname(fileURLToPath(import.meta.url)), protos = join(here, "../../proto");
  const folder = mkdtempSync(join(tmpdir(), "davit-protos-")), file = join(folder, "set");
  try {
    execFileSync("protoc", [`--proto_path=${protos}`, `--proto_path=${here}`, "--include_imports",
      `--descriptor_set_out=${file}`, "ctrl/v1/cluster.proto", "davit/v1/agent.proto", "davit/v1/operator.proto", "krane/v1/secrets.proto",
      "vault.proto"]);
    return protobuf.fromBinary(FileDescriptorSetSchema, readFileSync(file));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const registry = protobuf.createFileRegistry(descriptors());
export const ClusterService = registry.getService("ctrl.v1.ClusterService");
export const VaultService = registry.getService("vault.v1.VaultService");

// "ctrl.v1.ClusterService/Heartbeat" or, as no two services here have one name, "ClusterService/Heartbeat".
export function methodOf(name) {
  const [service, method] = name.split("/");
  for (const file of registry.files) {
    for (const one of file.services) {
      const found = one.methods.find((m) => m.name === method);
      if (found && (one.typeName === service || one.name === service)) return found;
    }
  }
  throw new Error(`there is no method ${name}`);
}

// "not_found"
export function codeName(code) {
  return connect.Code[code].replace(/(?!^)([A-Z])/g, "_$1").toLowerCase();
}

export function codeNamed(name) {
  const found = Object.values(connect.Code).find((c) => typeof c === "number" && codeName(c) === name);
  if (found === undefined) throw new Error(`there is no code ${name}`);
  return found;
}
