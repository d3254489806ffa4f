// Commands come in and events go out as JSON, one a line. The end of stdin is the end of the program.
import { createInterface } from "node:readline";

export function say(event) {
  process.stdout.write(JSON.stringify(event, (_, value) => (typeof value === "bigint" ? String(value) : value)) + "\n");
}

// `act` may be asynchronous; commands that are waited for do not hold up those behind them.
export function obey(act) {
  const lines = createInterface({ input: process.stdin });
  lines.on("line", async (line) => {
    try {
      await act(JSON.parse(line));
    } catch (error) {
      say({ event: "fault", line: line.slice(0, 500), text: String(error.stack ?? error) });
    }
  });
  lines.on("close", () => process.exit(0));
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Headers as pairs.
export const pairs = (headers) => [...(headers ?? new Headers()).entries()];
