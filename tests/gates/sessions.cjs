// Progress, completion, subscriptions and cancellation through the TypeScript client library.
//
// Arguments: the folder of the node packages, the workspace, and the URL or the command of the fixture server.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");

const [cache, workspace, ...target] = process.argv.slice(2);
const library = (name) =>
  require(require.resolve(`@modelcontextprotocol/sdk/${name}`, { paths: [cache] }));
const { Client } = library("client/index.js");
const { ResourceUpdatedNotificationSchema } = library("types.js");

const DEADLINE_MS = 60_000;
const FILE = "greeting.py";
const OUTLINE = `sightline://outline/${FILE}`;
const STATUS = "sightline://status";

function transport() {
  if (target.length === 1) {
    const { StreamableHTTPClientTransport } = library("client/streamableHttp.js");
    return new StreamableHTTPClientTransport(new URL(target[0]));
  }
  const { StdioClientTransport } = library("client/stdio.js");
  return new StdioClientTransport({ command: target[0], args: target.slice(1), env: process.env, stderr: "ignore" });
}

async function progress(client) {
  const seen = [];
  // A server indexes its workspace when it starts, and a forced job does not join that one.
  await client.callTool({ name: "index_repo", arguments: { wait: true } });
  const call = { name: "index_repo", arguments: { wait: true, force: true } };
  const answer = await client.callTool(call, undefined, { onprogress: (step) => seen.push(step) });
  assert.equal(answer.structuredContent.status, "published");
  const figures = seen.map((step) => step.progress);
  assert.deepEqual(figures, [...new Set(figures)].sort((a, b) => a - b));
  // The library drops a notification that arrives in one piece with the answer, so the last one may be missing.
  assert.ok(figures.length > 0 && figures.at(-1) <= 100);
}

async function completion(client) {
  const complete = async (uri, name, value) =>
    (await client.complete({ ref: { type: "ref/resource", uri }, argument: { name, value } })).completion.values;
  assert.deepEqual(await complete("sightline://symbol/{name}", "name", "gre"), ["greet"]);
  assert.deepEqual(await complete("sightline://outline/{path}", "path", "gree"), [FILE]);
}

async function subscriptions(client) {
  const heard = [];
  let wake = () => {};
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (message) => {
    heard.push(message.params.uri);
    wake();
  });
  const change = async (uri) => {
    heard.length = 0;
    fs.appendFileSync(path.join(workspace, FILE), "\n\ndef welcome():\n    return greet()\n");
    while (!heard.includes(uri)) await new Promise((resolve) => (wake = resolve));
  };
  await client.subscribeResource({ uri: OUTLINE });
  await client.subscribeResource({ uri: STATUS });
  await change(OUTLINE);
  await client.unsubscribeResource({ uri: OUTLINE });
  // Both are told in one go, so after the second change to the one the other would have come.
  await change(STATUS);
  const late = [...heard];
  await change(STATUS);
  assert.ok(![...late, ...heard].includes(OUTLINE), `told of ${heard} after unsubscribing`);
  await client.unsubscribeResource({ uri: STATUS });
}

async function cancellation(client) {
  for (const count of [1, 2, 3]) {
    const stop = new AbortController();
    const options = { signal: stop.signal, onprogress: () => stop.abort("enough") };
    await assert.rejects(client.callTool({ name: "test_wait", arguments: {} }, undefined, options), /enough/);
    const told = await client.callTool({ name: "test_cancelled", arguments: { count } });
    assert.equal(told.structuredContent.said, `${count} begun, ${count} cancelled, 0 under way`);
  }
}

async function main() {
  const client = new Client({ name: "gate", version: "1" });
  await client.connect(transport());
  const scenarios = { progress, completion, subscriptions, cancellation };
  for (const [name, scenario] of Object.entries(scenarios)) {
    try {
      await scenario(client);
    } catch (error) {
      throw new Error(`${name}: ${error.stack}`);
    }
  }
  await client.close();
  return Object.keys(scenarios).join(", ");
}

const timer = setTimeout(() => {
  process.stderr.write("not done in time\n");
  process.exit(1);
}, DEADLINE_MS);
main().then(
  (text) => {
    clearTimeout(timer);
    process.stdout.write(`${text}\n`);
  },
  (error) => {
    process.stderr.write(`${error.stack ?? error}\n`);
    process.exit(1);
  },
);
