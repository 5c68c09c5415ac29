/** docs/security-proof.md, out of what the attacks came to. */
import type { Finding } from './besiege.ts';
import type { Place, Row } from './row.ts';
import type { WireExchange } from './wire.ts';

const PLACES: Readonly<Record<Place, string>> = {
  foreign: 'another site',
  neighbour: 'same host, other port',
  trusted: 'a site at `*.localhost`',
  'listed-and-more': 'a name that begins like a listed one',
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
    return answerHeaders.has('access-control-allow-origin') ? undefined : 'preflight without leave';
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
  return `# What a web page can't do

A service without a key in reach of a browser is in reach of every web page that this browser shows. This page lists the ways there are to use a browser so, each tried in real browsers: ${runs.map(({ version }) => version).join(' and ')}, ${when}, ${attempts} attempts. Each row **succeeds on a service whose guard was taken out** and fails on the service as it is shipped: no power action recorded, no call to the player, the process alive, no byte in the page's hands. What the browser says of itself with each request (Origin, Sec-Fetch-Site) is its own choice, not the test's. Each row is tried on the service's address of loopback and on its name in the network, \`pc.lan\`: what goes to such a name over plain HTTP browsers mark with Origin at most, never with Sec-Fetch-Site.

The rows are data in test/browser/attack/rows-*.ts; \`npm run check\` tries each row in Chromium on a turn of its targets, \`npm run prove attacks\` all of it in both browsers and writes this page.

## The set-up

- Four services at once, each the program itself with every feature on and the recording power backend: guard on and off, each with \`auth.enabled: false\` and with authentication on and the browser's address in \`auth.allowed_ips\`. Each has a media player and a process of its own to lose.
- **Guard off** is no setting and can't become one: the test starts the same dist/main.js with a module hook (test/browser/attack/guard-off-hooks.ts) that lays substitutes over three functions. \`guardWeb\` lets every request pass; the CORS functions answer as a careless server does (the asking origin may read, with credentials; each preflight is granted); and Cross-Origin-Resource-Policy, X-Frame-Options and \`frame-ancestors\` are left out. The rest is what is shipped: routes, methods, content types, flags.
- "Fails" is judged at the service and at its witnesses, never by what the page thinks: the state counts at the end of the run as well. A row counts as failed only if its request **has come to the service** and was answered there; the last column says how.
- **DNS rebinding**: every connection of the browser goes through a SOCKS5 proxy on loopback that is given names, not addresses, and looks them up when the connection is made. The attack's page has its name looked up as the attacker's address, then has it bound anew, and from then on new connections to the same name and port end at the service, byte for byte as the browser sends them. That is what rebinding is for both ends: the browser goes by the name, and the service sees a Host and an Origin of the attacker's. What is left out is only the wait for the resolver's cache, which an attacker has time for. The names lie below \`attacker.example.com\`, because a name that no stranger can register (\`.test\`, \`.localhost\`) passes as a Host by design.

## The rows

"Aimed at": for power a sleep command, or reading its state; for media a pause, or the track; for process its end, or the list; stats are read.

| row | page from | how | aimed at | guard off | guard on |
|---|---|---|---|---|---|
${rows.map((row) => lineOf(row, runs)).join('\n')}

## What goes on in the same run

With the guard on: the owner's dashboard shows live numbers and may act; a page of a foreign site that sends the key reads and acts, by fetch and by WebSocket; a page of an origin in \`server.cors_origins\` reads, acts, and opens an EventSource and a WebSocket without a key.

## What can be seen without reading

A page need not read an answer to learn from it: it may notice whether an embedded answer loads. ${SIGHTS} For a process that runs and one that does not, a player that is there and one that is not, and a track with and without a picture, all of them look the same (test \`2.unseen\`). They did not before this suite was written: \`<link rel=prefetch>\` and \`<object>\` told 200 from 404, so that a page could ask for programs by name. How long an answer takes is not hidden.

## Not counted

What browsers prevent with the guard off too is no row: reading a JSON answer through \`<script>\`, \`<img>\`, \`<link rel=stylesheet>\`, \`<video>\` or \`@font-face\`; reading the document of another origin's window or frame; a GET that acts (no route does); Content-Type \`text/plain\` at the JSON routes (415); the Reporting API (to TLS only). A page served over TLS can't reach a service without TLS but on loopback. Newer browsers ask their user before a public site may reach a local address; nothing here relies on it, for the attacker's pages are local as well.
`;
}

const SIGHTS =
  'The suite loads pairs of answers in sixteen ways (images, scripts, modules, style sheets, prefetch, preload, objects, frames, media, fetch, integrity) and compares events, sizes and performance entries.';
