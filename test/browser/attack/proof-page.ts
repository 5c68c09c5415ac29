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

/** The attacks of one line of the table: from the same place, with the same effect. */
export function kindsOf(rows: readonly Row[]): readonly (readonly Row[])[] {
  const kinds = new Map<string, Row[]>();
  for (const row of rows) {
    const kind = `${row.from} ${row.does}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), row]);
  }
  return [...kinds.values()];
}

/** The cells of a line that do not depend on a run. */
export const fixedCells = (rows: readonly Row[]): string =>
  `| ${[...new Set(rows.map(({ from }) => PLACES[from]))].join(', ')} | ${rows.map(({ id }) => id).join(', ')} |`;

/** The lines of the table on the page. */
export const tableLines = (page: string): readonly string[] =>
  page.split('\n').filter((line) => /^\| .* \| nothing, \d+ of \d+: /.test(line));

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

function lineOf(rows: readonly Row[], runs: readonly Run[]): string {
  const own = runs.flatMap(({ version, findings }) =>
    findings.filter(({ row }) => rows.includes(row)).map((finding) => ({ ...finding, version })),
  );
  const open = own.filter(({ isGuarded }) => !isGuarded);
  const guarded = own.filter(({ isGuarded }) => isGuarded);
  const browsers = unique(open.map(({ version }) => version.split(' ')[0]));
  const good = open.filter(({ succeeded }) => succeeded).length;
  const done = unique(rows.map(({ does }) => DONE[does]));
  const off = `${done}, ${good} of ${open.length} (${browsers})`;
  const failed = guarded.filter(({ succeeded }) => !succeeded).length;
  const answers = unique(guarded.flatMap(({ exchanges }) => exchanges.map(answerOf)));
  return `${fixedCells(rows)} ${off} | nothing, ${failed} of ${guarded.length}: ${answers} |`;
}

export function renderProof(rows: readonly Row[], runs: readonly Run[], when: string): string {
  const attempts = runs.reduce((sum, { findings }) => sum + findings.length, 0);
  return `# What a web page cannot do

A browser that can reach a service without a key lets every web page that it shows reach it too. This page lists ways to misuse a browser like that, each tried in ${runs.map(({ version }) => version).join(' and ')}, ${when}, ${attempts} attempts. Each attack **succeeds on a service without the guard** and fails on the service as it is shipped: no power action is recorded, the player is not called, the process stays alive, and the page gets no byte. Each is tried on the service's loopback address and on its name in the network, \`pc.lan\`: over plain HTTP browsers send at most Origin to such a name, and never Sec-Fetch-Site.

The attacks are data in test/browser/attack/rows-*.ts, with their methods and targets (power, media, a process, stats). \`npm run prove browser/attack\` tries each in Chromium on one or two of its targets; \`npm run prove attacks\` tries all of them in both browsers and writes this page.

## Setup

- Four services, each the real program with every feature on and the recording power backend: guard on and off, each with \`auth.enabled: false\`, and with authentication on and the browser's address in \`auth.allowed_ips\`. Each has its own media player and process as targets.
- **Guard off** is not a setting: the test starts the program from its single modules, with a hook (test/browser/attack/guard-off-hooks.ts) that lets every request pass \`guardWeb\`, answers CORS like a careless server, and leaves out Cross-Origin-Resource-Policy, X-Frame-Options and \`frame-ancestors\`.
- "Fails" is decided by the state of the service and its targets, never by the page's own result. An attempt counts as failed only if its request **arrived at the service** and was answered there; the last column has the answers.
- **DNS rebinding**: the browser resolves names through a SOCKS5 proxy on loopback. The attack's page is loaded from the attacker's address; then its name is bound to the service. Both ends see what they would see in real rebinding, without the wait for the resolver's cache. The names are below \`attacker.example.com\`; another section has names like those of the network or of the machine.

## The attacks

| page from | attacks | guard off | guard on |
|---|---|---|---|
${kindsOf(rows)
  .map((kind) => lineOf(kind, runs))
  .join('\n')}

With the guard on, in the same run: the owner's dashboard shows live numbers and may act; a page of a foreign site that sends the key reads and acts, with fetch and WebSocket; a page of an origin in \`server.cors_origins\` reads, acts, and opens an EventSource and a WebSocket without a key.

## Side channels

A page may learn something from an answer that it cannot read. The suite loads pairs of answers in seventeen ways (images, scripts, modules, style sheets, prefetch, preload, objects, frames, media, fetch, integrity) and compares events, sizes and performance entries. For a running and a missing process, an existing and a missing player, and a track with and without a cover, all results are equal (test \`2.unseen\`).

The duration of an answer reveals nothing either, because such a request is refused before any work is done for it: a classifier trained on thousands of durations is right no more often than by chance (\`npm run prove oracle\`, figures in [proofs](proofs.md); a replay from outside a browser finds that a refusal for want of a key is one microsecond earlier). Two kinds of requests are served and can be timed: a link that the visitor clicks, and a GET over plain HTTP to a name or an address other than loopback, which looks like that of a program. Where that matters, require a key (\`auth.enabled\`, without the browser in \`auth.allowed_ips\`).

## Not counted

What browsers prevent even with the guard off: reading a JSON answer through \`<script>\`, \`<img>\`, \`<link rel=stylesheet>\`, \`<video>\` or \`@font-face\`; reading the document of another origin's window or frame; Content-Type \`text/plain\` at the JSON routes (415); the Reporting API (to TLS only). No route acts on a GET. Newer browsers ask the user before a public site may reach a local address; nothing here relies on that, because the attacker's pages are local too.
`;
}
