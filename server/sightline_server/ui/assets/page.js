// The page: asks the MCP endpoint as any client does, and shows answers as text. Nothing here builds markup from strings.

import { paint } from "./highlight.js";

const DEBOUNCE_MS = 120;
const BUSY_POLL_MS = 400;
const IDLE_POLL_MS = 4000;
const LIMIT = 30;
const TOKEN_KEY = "sightline-token";

const at = (id) => document.getElementById(id);
const query = at("query"), mode = at("mode"), list = at("results"), told = at("told"), detail = at("detail");
const state = { results: [], chosen: -1, opened: -1, searching: null, opening: null, timer: 0, next: 1 };

function make(name, kind, text) {
  const node = document.createElement(name);
  if (kind) node.className = kind;
  if (text !== undefined) node.textContent = text;
  return node;
}

class Refused extends Error {}

async function call(name, args, signal) {
  const headers = { "Content-Type": "application/json" };
  const token = sessionStorage.getItem(TOKEN_KEY);
  if (token) headers.Authorization = `Bearer ${token}`;
  const body = JSON.stringify({ jsonrpc: "2.0", id: state.next++, method: "tools/call", params: { name, arguments: args } });
  const answer = await fetch("../mcp", { method: "POST", headers, body, signal });
  if (answer.status === 401) {
    const hidden = at("gate").hidden;
    at("gate").hidden = false;
    if (hidden) at("token").focus();
    throw new Refused("A token is needed.");
  }
  const message = await answer.json();
  const content = message.result?.structuredContent;
  if (message.error || !content) throw new Refused(message.error?.message ?? "The server gave no answer.");
  if (content.error) throw new Refused(content.error.message);
  return content;
}

// Searching ------------------------------------------------------------------------------------------------

function searchSoon() {
  clearTimeout(state.timer);
  state.timer = setTimeout(search, DEBOUNCE_MS);
}

async function search() {
  clearTimeout(state.timer);
  state.searching?.abort();
  const text = query.value.trim();
  history.replaceState(null, "", text ? `#q=${encodeURIComponent(text)}${mode.value === "auto" ? "" : `&m=${mode.value}`}` : location.pathname);
  if (!text) {
    state.searching = null;
    show([], "");
    return;
  }
  const mine = (state.searching = new AbortController());
  list.setAttribute("aria-busy", "true");
  try {
    const begun = performance.now();
    const answer = await call("search_code", { query: text, mode: mode.value, limit: LIMIT, detail_level: "context", enrich: false }, mine.signal);
    if (mine !== state.searching) return;
    const found = answer.results ?? [];
    show(found, summary(found.length, answer, performance.now() - begun));
    list.dataset.query = text;
  } catch (error) {
    if (error.name === "AbortError" || mine !== state.searching) return;
    show([], error instanceof Refused ? error.message : "The server cannot be reached. Is it still running?");
  } finally {
    if (mine === state.searching) list.removeAttribute("aria-busy");
  }
}

function summary(count, answer, ms) {
  const { result_completeness: complete, warnings = [] } = answer.metadata ?? {};
  const head = count === 0 ? "Nothing found" : `${count}${answer.next_cursor ? " best" : ""} result${count === 1 ? "" : "s"}`;
  const notes = warnings.map((warning) => (typeof warning === "string" ? warning : warning.message)).filter(Boolean);
  return [`${head} in ${Math.round(ms)} ms`, complete === "complete" ? "" : complete, ...notes].filter(Boolean).join(" · ");
}

function show(results, text) {
  state.results = results;
  state.chosen = -1;
  told.textContent = text;
  list.replaceChildren(...results.map(row));
  query.setAttribute("aria-expanded", String(results.length > 0));
  close();
  if (results.length) choose(0);
}

function row(hit, index) {
  const item = make("li");
  item.id = `hit-${index}`;
  item.setAttribute("role", "option");
  item.setAttribute("aria-selected", "false");
  const head = make("div", "head");
  if (hit.name && hit.kind !== "text" && hit.kind !== "file") {
    head.append(make("span", "kind", hit.kind), make("span", "name", hit.qualified_name ?? hit.name));
  }
  const place = make("span", "place");
  const cut = hit.path.lastIndexOf("/") + 1;
  place.append(make("span", "folder", hit.path.slice(0, cut)), make("span", "file", hit.path.slice(cut)), make("span", "number", `:${hit.line}`));
  head.append(place);
  item.append(head);
  const lines = hit.lines ?? [];
  if (lines.length) {
    const code = make("pre", "lines");
    paint(code, lines.map((line) => line.text).join("\n"), hit.language, lines[0].line, hit.line);
    item.append(code);
  }
  item.addEventListener("click", () => { choose(index); open(); });
  return item;
}

function choose(index) {
  if (!state.results.length) return;
  const wanted = Math.max(0, Math.min(index, state.results.length - 1));
  list.children[state.chosen]?.setAttribute("aria-selected", "false");
  state.chosen = wanted;
  const item = list.children[wanted];
  item.setAttribute("aria-selected", "true");
  query.setAttribute("aria-activedescendant", item.id);
  item.scrollIntoView({ block: "nearest" });
}

// One result ----------------------------------------------------------------------------------------------

async function open(hit = state.results[state.chosen]) {
  if (!hit) return;
  state.opening?.abort();
  const mine = (state.opening = new AbortController());
  detail.hidden = false;
  document.body.classList.add("open");
  at("place").textContent = `${hit.path}:${hit.line}`;
  at("outline").replaceChildren();
  const lines = hit.lines ?? [];
  paint(at("code"), lines.map((line) => line.text).join("\n"), hit.language, lines[0]?.line ?? hit.line, hit.line);
  detail.focus({ preventScroll: true });
  await Promise.allSettled([showSource(hit, mine), showOutline(hit, mine)]);
}

async function showSource(hit, mine) {
  if (!hit.kind || hit.kind === "text" || hit.kind === "file") return;
  const target = { path: hit.path, line: hit.line, column: hit.column ?? 1 };
  let answer;
  try {
    answer = await call("get_symbol_source", target, mine.signal);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    // Not every set of tools has it.
    answer = await call("explore_symbol", target, mine.signal);
  }
  if (mine !== state.opening) return;
  paint(at("code"), answer.source, answer.definition.language, answer.definition.line, hit.line);
}

async function showOutline(hit, mine) {
  const answer = await call("get_file_outline", { path: hit.path }, mine.signal);
  if (mine !== state.opening) return;
  at("outline").replaceChildren(...(answer.symbols ?? []).map((symbol) => branch(symbol, hit, answer.language)));
}

function branch(symbol, hit, language) {
  const item = make("li");
  const button = make("button", hit.line >= symbol.line && hit.line <= (symbol.end_line ?? symbol.line) ? "symbol here" : "symbol");
  button.type = "button";
  button.title = symbol.signature ?? symbol.name;
  button.append(make("span", "kind", symbol.kind), make("span", "name", symbol.name), make("span", "number", String(symbol.line)));
  button.addEventListener("click", () => open({ path: hit.path, line: symbol.line, column: symbol.column, kind: symbol.kind, language, lines: [{ line: symbol.line, text: symbol.signature ?? symbol.name }] }));
  item.append(button);
  if (symbol.children?.length) {
    const below = make("ul");
    below.append(...symbol.children.map((child) => branch(child, hit, language)));
    item.append(below);
  }
  return item;
}

function close() {
  state.opening?.abort();
  state.opening = null;
  detail.hidden = true;
  document.body.classList.remove("open");
}

// The server's state ----------------------------------------------------------------------------------------

async function watch() {
  let pause = IDLE_POLL_MS;
  try {
    const [index, health] = await Promise.all([call("index_status", {}), call("health_check", {})]);
    at("gate").hidden = true;
    if (showIndex(index)) pause = BUSY_POLL_MS;
    showServers(health.servers ?? []);
  } catch (error) {
    at("index").textContent = error instanceof Refused ? error.message : "not connected";
    at("index").className = "chip bad";
    at("progress").hidden = true;
  }
  setTimeout(watch, document.hidden ? IDLE_POLL_MS : pause);
}

function showIndex(index) {
  const job = index.active_job, bar = at("progress"), chip = at("index");
  bar.hidden = !job;
  if (job) bar.value = job.estimated_completion_pct;
  const name = index.repo_root.split("/").pop();
  document.title = `${name} · Sightline`;
  chip.textContent = job
    ? `${name}: ${job.message}`
    : `${name}: ${index.file_count.toLocaleString("en")} files, ${index.symbol_count.toLocaleString("en")} symbols`;
  chip.title = index.problem ?? index.repo_root;
  chip.className = index.problem ? "chip bad" : job ? "chip busy" : "chip good";
  return Boolean(job);
}

function showServers(servers) {
  at("servers").replaceChildren(...servers.map((server) => {
    const chip = make("span", `chip ${server.ready ? "good" : server.state === "running" || server.state === "starting" ? "busy" : "idle"}`, `${server.name} ${server.ready ? "ready" : server.state}`);
    chip.title = (server.languages ?? []).join(", ");
    return chip;
  }));
}

// Keys ---------------------------------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (event.key === "/" && !typing) {
    event.preventDefault();
    query.focus();
    query.select();
  } else if (event.key === "Escape") {
    event.preventDefault();
    if (!detail.hidden) { close(); query.focus(); } else { query.value = ""; query.focus(); search(); }
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && (event.target === query || !typing)) {
    if (event.target.closest?.("#code")) return;
    event.preventDefault();
    choose(state.chosen + (event.key === "ArrowDown" ? 1 : -1));
    if (!detail.hidden) open();
  } else if (event.key === "Enter" && (event.target === query || event.target === document.body)) {
    event.preventDefault();
    open();
  }
});

query.addEventListener("input", searchSoon);
mode.addEventListener("change", search);
at("back").addEventListener("click", () => { close(); query.focus(); });
at("copy").addEventListener("click", () => navigator.clipboard?.writeText(at("place").textContent));
at("gate").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(TOKEN_KEY, at("token").value.trim());
  at("token").value = "";
  at("gate").hidden = true;
  query.focus();
  search();
});

const asked = new URLSearchParams(location.hash.slice(1));
query.value = asked.get("q") ?? "";
if ([...mode.options].some((option) => option.value === asked.get("m"))) mode.value = asked.get("m");
query.focus();
watch();
if (query.value) search();
