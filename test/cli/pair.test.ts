/** `hostwire pair` and `hostwire keys`: what is stored, what is printed, and what is refused. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import decodeQR from 'qr/decode.js';
import t from 'tap';
import { describeDigest } from '#src/access/key.js';
import { listKeys, takeBack } from '#src/cli/keys/keys.js';
import { pair } from '#src/cli/keys/pair.js';
import { paintQr } from '#src/cli/keys/qr.js';
import { describePairProblem, type PairWords } from '#src/cli/pair-words.js';
import { judgeTerminal } from '#src/cli/terminal.js';
import { loadConfig } from '#src/config/load.js';
import { makeFolder, optionsFor, writeFiles } from '../config/loading.ts';

const NOW_MS = Date.UTC(2027, 0, 1);
const WORDS: PairWords = { name: undefined, scopes: undefined, expires: undefined, url: undefined };
const PLAIN = judgeTerminal({}, false);

/** A configuration in a folder of its own. */
function configured(t: { teardown(run: () => void): void }, text: string) {
  const folder = makeFolder(t);
  writeFiles(folder, { 'config.yaml': text });
  return { folder, options: optionsFor(folder) };
}

/** The pixels that a terminal shows for the text of a code, black on white or, without colours, white on black. */
function pixelsOf(text: string): {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
} {
  const isPainted = text.includes('\x1b[');
  const isWide = !/[█▀▄]/.test(text);
  const lines = text.trimEnd().split('\n');
  // Each cell as its upper and lower half: true where the glyph is.
  const cells = lines.map((line) => {
    if (isWide && isPainted)
      return [...line.matchAll(/\[(40|107)m {2}/g)].map(([, colour]) => [colour === '40', colour === '40']);
    const glyphs = stripVTControlCharacters(line);
    if (isWide) return (glyphs.match(/../g) ?? []).map((two) => [two === '@@', two === '@@']);
    return [...glyphs].map((glyph) => ['█▀'.includes(glyph), '█▄'.includes(glyph)]);
  });
  const rows = isWide
    ? cells.map((line) => line.map(([half]) => half === true))
    : cells.flatMap((line) => [0, 1].map((at) => line.map((halves) => halves[at] === true)));
  const scale = 4;
  const [width, height] = [(rows[0]?.length ?? 0) * scale, rows.length * scale];
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const hasGlyph = rows[Math.floor(y / scale)]?.[Math.floor(x / scale)] === true;
      if (hasGlyph === isPainted) data.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3);
    }
  return { width, height, data };
}

t.test('[10.pair-qr] a reader finds the link in the code, on every kind of terminal', async (t) => {
  const link = `https://[2001:db8::1]:9990/#key=${'kK-_0'.repeat(8)}abc`;
  for (const hasColours of [true, false])
    for (const hasUnicode of [true, false]) {
      const text = paintQr(link, { hasColours, hasUnicode });
      t.equal(decodeQR(pixelsOf(text)), link, JSON.stringify({ hasColours, hasUnicode }));
      t.equal(text.includes('\x1b'), hasColours);
      if (!hasUnicode) t.match(stripVTControlCharacters(text), /^[ -~\n]*$/);
    }
});

t.test('[10.pair] a key is stored as its digest, and its link is shown once', async (t) => {
  const { folder, options } = configured(
    t,
    'auth: {enabled: true, keys_folder: keys}\nserver: {host: 127.0.0.1}\n',
  );
  const words = { ...WORDS, expires: '90d', url: 'http://127.0.0.1:8080' };
  const output = pair(words, options, false, PLAIN, NOW_MS);
  t.equal(output.exitCode, 0);
  const key = /^http:\/\/127\.0\.0\.1:8080\/#key=([\w-]{43})$/m.exec(output.text)?.[1] ?? '';
  t.match(output.text, /It may: read, media; until 2027-04-01T00:00:00Z\./);
  t.notMatch(output.text, /plain HTTP/, 'nobody is on the way');
  const file = path.join(folder, 'keys/phone.yaml');
  const stored = readFileSync(file, 'utf8');
  t.notMatch(stored, key);
  t.match(stored, describeDigest(key));
  t.equal(statSync(file).mode & 0o022, 0, 'only its owner may write it');
  const { keys } = loadConfig(options).config.auth;
  t.same(keys['phone'], {
    digest: describeDigest(key),
    scopes: ['read', 'media'],
    expires: '2027-04-01T00:00:00Z',
  });
  const again = pair(words, options, false, PLAIN, NOW_MS);
  t.match(again, { exitCode: 1, text: /^no key was made: there is already a key named phone/ });
  t.equal(readFileSync(file, 'utf8'), stored);
});

t.test('[10.pair] as JSON, with another name and address', async (t) => {
  const { options } = configured(t, 'auth: {keys_folder: keys}\n');
  const words = {
    name: 'alex',
    scopes: 'read,power.lock',
    expires: '2027-06-30',
    url: 'https://pc.example.org/x',
  };
  const report = JSON.parse(pair(words, options, true, PLAIN, NOW_MS).text);
  t.match(report, { name: 'alex', scopes: ['read', 'power.lock'], expires: '2027-06-30', error: null });
  t.equal(report.url, `https://pc.example.org/x/#key=${report.key}`);
  t.equal(report.digest, describeDigest(report.key));
  t.match(report.warnings, [/auth\.enabled is false/]);
});

t.test('[10.pair] without a folder for keys it prints what to add', async (t) => {
  const { folder, options } = configured(t, 'auth: {enabled: true}\n');
  const { text } = pair({ ...WORDS, url: 'http://192.0.2.7:9990' }, options, false, PLAIN, NOW_MS);
  t.match(text, /plain HTTP/);
  t.strictSame(readdirSync(folder), ['config.yaml'], 'nothing is written');
  const lines = text.slice(text.indexOf('auth:\n  keys:'), text.indexOf('It may'));
  writeFileSync(path.join(folder, 'config.yaml'), lines);
  t.match(loadConfig(options).config.auth.keys['phone'], { scopes: ['read', 'media'] });
});

t.test('[10.keys-list] the keys, and taking one back', async (t) => {
  const { folder, options } = configured(
    t,
    `auth:
  enabled: true
  api_key: ${'k'.repeat(40)}
  keys_folder: keys
  guests: []
  keys:
    tv: {digest: "sha256/${'A'.repeat(43)}=", scopes: [read], expires: 2026-01-01}
`,
  );
  pair(WORDS, options, false, PLAIN, NOW_MS);
  const noUses = async () => ({ source: 'none' as const, since: null, reason: 'no reason', uses: new Map() });
  const { text } = await listKeys(options, false, NOW_MS, noUses);
  t.match(text, /^default +admin +does not expire +last use unknown$/m);
  t.match(text, /^tv +read +expired 2026-01-01 +last use unknown$/m);
  t.match(text, /^phone +read, media +does not expire +last use unknown$/m);
  t.match(text, /^clients without a key: none$/m);
  t.notMatch(text, /k{40}|sha256/);
  t.match(JSON.parse((await listKeys(options, true, NOW_MS, noUses)).text), {
    keys: [{ name: 'default' }, {}, {}],
    guests: [],
  });
  const uses = new Map([['phone', { at: 1, address: 'x\nforged', open: 0 }]]);
  const forging = async () => ({ source: 'none' as const, since: 1, reason: 'y\nforged', uses });
  t.notMatch((await listKeys(options, false, NOW_MS, forging)).text, /^forged/m);
  t.match(takeBack('phone', options), { exitCode: 0, text: /^removed .*phone\.yaml/ });
  t.strictSame(readdirSync(path.join(folder, 'keys')), []);
  t.match(takeBack('phone', options), { exitCode: 1, text: 'unknown key phone\n' });
  t.match(takeBack('tv', options), { exitCode: 1, text: /the key tv is in auth\.keys of the configuration/ });
});

t.test('[10.keys-revoked] a key is removed whatever is wrong with the configuration', async (t) => {
  const config = 'auth:\n  keys_folder: keys\n';
  for (const files of [
    { 'config.yaml': `${config}log: {level: loud}\n` },
    { 'config.yaml': `${config}log: {level: [\n` },
    { 'config.yaml': config, 'keys/tv.yaml': '{' },
    { 'config.json': '{"auth": {\n"keys_folder": "keys"}, }' },
  ]) {
    const folder = makeFolder(t);
    writeFiles(folder, { ...files, 'keys/phone.yaml': 'any text' });
    const { text, exitCode } = takeBack('phone', optionsFor(folder));
    t.match(text, /^removed .*phone\.yaml; .*the configuration has other errors:\n.+\n$/s);
    t.equal(exitCode, 0);
    t.notOk(readdirSync(path.join(folder, 'keys')).includes('phone.yaml'));
  }
});

t.test('[10.pair-words] options that make no sense', async (t) => {
  for (const [change, problem] of [
    [{ name: 'default' }, /^--name expects/],
    [{ name: 'a b' }, /^--name expects/],
    [{ scopes: 'read,fly' }, /^--scopes expects .*found "fly"/],
    [{ scopes: '' }, /^--scopes expects/],
    [{ expires: '0d' }, /^--expires expects/],
    [{ expires: '2026-12-31' }, /^--expires expects/],
    [{ expires: '9999w' }, /^--expires expects/],
    [{ url: 'pc.lan' }, /^--url expects/],
    [{ url: 'ftp://pc.lan' }, /^--url expects/],
    [{ url: 'http://pc.lan/?x=1' }, /^--url expects/],
  ] as const)
    t.match(
      describePairProblem({ ...WORDS, ...change }, NOW_MS + 86_400_000),
      problem,
      JSON.stringify(change),
    );
  for (const expires of ['12h', '90d', '8w', '2027-06-30', '2027-06-30T12:00:00Z'])
    t.equal(describePairProblem({ ...WORDS, expires }, NOW_MS), undefined, expires);
});
