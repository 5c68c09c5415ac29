/** Renders docs/evidence/security-proof.md from the results of the attacks. */
import type { Finding } from './besiege.ts';
import type { Place, Row } from './row.ts';
import type { WireExchange } from './wire.ts';

const PLACES: Readonly<Record<Place, string>> = {
  foreign: 'another site',
  neighbour: 'same host, other port',
  trusted: 'a site at `*.localhost`',
  'listed-and-more': 'a name that starts like a listed one',
  'more-and-listed': 'a name that ends like a listed one',
  'listed-elsewhere': 'a listed name, other port',
  rebound: 'a rebound name',
  'rebound-dot': 'a rebound name with a dot',
  'rebound-lookalike': 'a rebound name like an address',
  listed: 'a listed origin',
};

const DONE: Readonly<Record<Row['does'], string>> = { act: 'acted', read: 'read', frame: 'shown' };

/** The cells of a row that do not depend on a run. */
export const fixedCells = (row: Row): string =>
  `| ${row.id} | ${PLACES[row.from]} | ${row.method} | ${row.targets.join(', ')} |`;

/** The lines of the table on the page. */
export const tableLines = (page: string): readonly string[] =>
  page.split('\n').filter((line) => /^\| [a-z-]+ \| /.test(line) && !line.startsWith('| row |'));

function answerOf({ method, status, answerHeaders }: WireExchange): string | undefined {
  if (method === 'OPTIONS')
    return answerHeaders.has('access-control-allow-origin') ? undefined : 'preflight not granted';
  const code = answerHeaders.get('x-error-code');
  if (status === 200) return '200, kept from the page';
  return code === undefined ? String(status) : `${status} \`${code}\``;
}

const unique = (texts: readonly (string | undefined)[]) =>
  [...new Set(texts.filter((text) => text !== undefined))].sort().join('; ');

export interface Run {
  /** `Chromium 1.2.3`. */
  readonly version: string;
  readonly findings: readonly Finding[];
}

function lineOf(row: Row, runs: readonly Run[]): string {
  const own = runs.flatMap(({ version, findings }) =>
    findings.filter((finding) => finding.row.id === row.id).map((finding) => ({ ...finding, version })),
  );
  const open = own.filter(({ isGuarded }) => !isGuarded);
  const guarded = own.filter(({ isGuarded }) => isGuarded);
  const browsers = unique(open.map(({ version }) => version.split(' ')[0]));
  const good = open.filter(({ succeeded }) => succeeded).length;
  const off = `${DONE[row.does]}, ${good} of ${open.length} (${browsers})`;
  const failed = guarded.filter(({ succeeded }) => !succeeded).length;
  const answers = unique(guarded.flatMap(({ exchanges }) => exchanges.map(answerOf)));
  return `${fixedCells(row)} ${off} | nothing, ${failed} of ${guarded.length}: ${answers} |`;
}

export function renderProof(rows: readonly Row[], runs: readonly Run[], when: string): string {
  const attempts = runs.reduce((sum, { findings }) => sum + findings.length, 0);
  return `# What a web page cannot do

A browser that can reach a service without a key lets every web page that it shows reach it too. This page lists the ways to misuse a browser like that, each tried in real browsers: ${runs.map(({ version }) => version).join(' and ')}, ${when}, ${attempts} attempts. Each row **succeeds on a service without the guard** and fails on the service as it is shipped: no power action is recorded, the player is not called, the process stays alive, and the page gets no byte. The browser itself decides about the headers of each request (Origin, Sec-Fetch-Site). Each row is tried on the service's loopback address and on its name in the network, \`pc.lan\`: over plain HTTP browsers send at most Origin to such a name, and never Sec-Fetch-Site.

The rows are data in test/browser/attack/rows-*.ts; \`npm run prove browser/attack\` tries each row in Chromium on one or two of its targets; \`npm run prove attacks\` tries all of them in both browsers and writes this page.

## Setup

- Four services at once, each the real program with every feature on and the recording power backend: guard on and off, each with \`auth.enabled: false\`, and with authentication on and the browser's address in \`auth.allowed_ips\`. Each has its own media player and process as targets.
- **Guard off** is not a setting, and cannot be configured: the test starts the program from its single modules instead of the bundle of them, with a module hook (test/browser/attack/guard-off-hooks.ts) that replaces three files. \`guardWeb\` lets every request pass; the CORS functions answer like a careless server (any origin may read, with credentials, and each preflight is granted); and Cross-Origin-Resource-Policy, X-Frame-Options and \`frame-ancestors\` are left out. Everything else is as shipped: routes, methods, content types, flags.
- "Fails" is decided by the state of the service and its targets, also at the end of the run, and never by the page's own result. A row counts as failed only if its request **arrived at the service** and was answered there; the last column has the answer.
- **DNS rebinding**: every connection of the browser goes through a SOCKS5 proxy on loopback that receives names, not addresses, and resolves them when the connection is made. The attack's page is loaded from the attacker's address; then its name is bound to the service, and new connections to the same name and port end there, byte for byte as the browser sends them. This is the same as real rebinding for both ends: the browser relies on the name, and the service sees the attacker's Host and Origin. Only the wait for the resolver's cache is left out. The names in this table are below \`attacker.example.com\`; the last section has those that are like a name of the network or of the machine.

## The rows

Targets: for power a sleep command or its state; for media a pause or the track; for process its end or the list; stats are read.

| row | page from | method | targets | guard off | guard on |
|---|---|---|---|---|---|
${rows.map((row) => lineOf(row, runs)).join('\n')}

## Legitimate use in the same run

With the guard on: the owner's dashboard shows live numbers and may act; a page of a foreign site that sends the key reads and acts, with fetch and WebSocket; a page of an origin in \`server.cors_origins\` reads, acts, and opens an EventSource and a WebSocket without a key.

## Side channels

A page may learn something from an answer that it cannot read, for example whether an embedded answer loads. ${SIGHTS} For a running and a missing process, an existing and a missing player, and a track with and without a cover, all results are equal (test \`2.unseen\`). Before this suite existed, \`<link rel=prefetch>\` and \`<object>\` distinguished 200 from 404, so that a page could probe for programs by name. ${DURATION}

## Not counted

There is no row for what browsers prevent even with the guard off: reading a JSON answer through \`<script>\`, \`<img>\`, \`<link rel=stylesheet>\`, \`<video>\` or \`@font-face\`; reading the document of another origin's window or frame; a GET that acts (no route does); Content-Type \`text/plain\` at the JSON routes (415); the Reporting API (to TLS only). A page served over TLS cannot reach a service without TLS, except on loopback. Newer browsers ask the user before a public site may reach a local address; nothing here relies on that, because the attacker's pages are local too.
`;
}

const DURATION =
  'The duration of an answer reveals nothing either, because such a request is refused before any work is done for it: a classifier that is trained on thousands of durations is right about a running and a missing process, features on and off, or authentication on and off, no more often than by chance (a replay from outside a browser finds that a refusal for want of a key is one microsecond earlier) (`npm run prove oracle`; the figures are in proofs.md). Two kinds of requests are served and can be timed. A link that the visitor clicks, once per click. And a GET over plain HTTP to a name or an address other than loopback: browsers send neither Origin nor Sec-Fetch-Site with it, so that it looks like that of a program. Where that matters, require a key (`auth.enabled`, without the browser in `auth.allowed_ips`): a request without it is refused before any work, too.';

const SIGHTS =
  'The suite loads pairs of answers in seventeen ways (images, scripts, modules, style sheets, prefetch, preload, objects, frames, media, fetch, integrity) and compares events, sizes and performance entries.';
