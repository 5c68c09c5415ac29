/** `auth.keys`, `auth.keys_folder` and `auth.guests`: what is accepted, where it comes from, and what is refused. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { endOf } from '#src/access/key.js';
import { KeyExpiry } from '#src/config/key-expiry.js';
import { loadConfig } from '#src/config/load.js';
import { load, makeFolder, optionsFor, shortProblemsOf, writeFiles } from './loading.ts';

const DIGEST = `sha256/${'A'.repeat(43)}=`;
const OTHER = `sha256/${'B'.repeat(42)}A=`;

t.test('keys in the configuration', async (t) => {
  const { config, origins } = load(t, {
    'config.yaml': `auth:
  enabled: true
  guests: [read, power.lock]
  keys:
    phone: {digest: "${DIGEST}", scopes: [read, media]}
    panel:
      key_file: panel.key
      scopes: [read]
      expires: 2027-06-30
      addresses: [192.168.1.0/24, "2001:db8::1"]
`,
    'panel.key': `${'p'.repeat(43)}\n`,
  });
  const { guests, keys } = config.auth;
  t.strictSame(guests, ['read', 'power.lock']);
  t.same(keys['phone'], { digest: DIGEST, scopes: ['read', 'media'] });
  t.match(keys['panel'], { key_file: { secret: 'p'.repeat(43) }, expires: '2027-06-30' });
  t.strictSame(keys['panel']?.addresses, ['192.168.1.0/24', '2001:db8::1']);
  t.equal(keys['toString'], undefined, 'no key comes from a prototype');
  t.match(origins.get('auth.keys.panel'), /config\.yaml:6$/);
  t.equal(load(t, {}).config.auth.guests, undefined, 'everything by default');
});

t.test('a file per key in a folder', async (t) => {
  const folder = makeFolder(t);
  const options = optionsFor(folder);
  writeFiles(folder, { 'config.yaml': 'auth: {keys_folder: keys}\n' });
  const keysNow = () => Object.keys(loadConfig(options).config.auth.keys).sort();
  t.strictSame(keysNow(), [], 'the folder may be missing');
  const keys = path.join(folder, 'keys');
  mkdirSync(keys);
  const write = (name: string, text: string) => writeFileSync(path.join(keys, name), text);
  write('phone.yaml', `digest: ${DIGEST}\nscopes: [read]\n`);
  write('tv.json', JSON.stringify({ digest: OTHER, scopes: ['read'] }));
  write('.hidden.yaml', 'nonsense');
  write('README', 'nonsense');
  t.strictSame(keysNow(), ['phone', 'tv']);
  const { watch, config, origins } = loadConfig(options);
  t.ok(watch.includes(keys), 'the folder is watched');
  t.equal(config.auth.keys_folder, keys);
  t.match(origins.get('auth.keys.phone'), /keys\/phone\.yaml:1$/);
  rmSync(path.join(keys, 'tv.json'));
  t.strictSame(keysNow(), ['phone']);
  for (const [name, text, problem] of [
    [
      'tv.yaml',
      `digest: ${DIGEST}\nscopes: [read]\n`,
      /tv\.yaml:1.* auth\.keys\.tv.* is the same key as auth\.keys\.phone/,
    ],
    [
      'tv.yaml',
      `digest: ${OTHER}\nscopes: [read, fly]\n`,
      /tv\.yaml:2.* auth\.keys\.tv\.scopes\[1\]: expected a list of scopes.* \(not shown\)/,
    ],
    ['tv.yaml', '', /tv\.yaml: is empty/],
    ['phone.json', JSON.stringify({ digest: OTHER, scopes: ['read'] }), /phone\.yaml.* set at .*phone\.json/],
    ['default.yaml', `digest: ${OTHER}\nscopes: [read]\n`, /auth\.keys\.default: expected a name/],
  ] as const) {
    write(name, text);
    const refused = loadConfig(options);
    t.match(refused.notices.find(({ level }) => level === 'error')?.text, problem, name);
    t.strictSame(Object.keys(refused.config.auth.keys), ['phone'], 'the others are accepted');
    rmSync(path.join(keys, name));
  }
});

t.test('no text of a file of a key is in a message', async (t) => {
  const SECRET = 'correct-horse-battery-staple';
  const valid = `digest: "${DIGEST}"\nscopes: [read]\n`;
  for (const [name, text] of [
    ['yaml', SECRET],
    ['yaml', `"${SECRET}"`],
    ['json', `"${SECRET}"`],
    ['json', SECRET],
    ['json', `{"${SECRET}": 1}`],
    ['json', `{"digest": "${DIGEST}", "scopes": ["read"], "${SECRET}": 1}`],
    ['yaml', `${SECRET}: x`],
    ['yaml', `auth: {keys: {${SECRET}: x}}`],
    ['yaml', `${valid}${SECRET}: 1`],
    ['yaml', `${valid}scopes: ${SECRET}`],
    ['yaml', `${valid}${SECRET}: 1\n${SECRET}: 2`],
    ['yaml', `${valid}expires: ${SECRET}`],
    ['yaml', `${valid}addresses: [${SECRET}]`],
    ['yaml', `digest: ${SECRET}\nscopes: [${SECRET}]`],
    ['yaml', `key_file: ${SECRET}\nscopes: [read]`],
    ['yaml', `key_file: /${SECRET}/a\nscopes: [read]`],
    ...['*', '&', '!', '!!', '%', '@', '`', '- ', '? ', '[', '{', '"', '!<', '!x!', '<<: '].flatMap(
      (mark) => [
        ['yaml', `${mark}${SECRET}`] as const,
        ['yaml', `a: ${mark}${SECRET}`] as const,
        ['yaml', `${mark}${SECRET}: 1`] as const,
      ],
    ),
    ['yaml', `a\n${SECRET}: [`],
    ['yaml', `"\\x${SECRET}"`],
  ] as const) {
    const folder = makeFolder(t);
    const file = `keys/phone.${name}`;
    writeFiles(folder, { 'config.yaml': 'auth: {keys_folder: keys}', [file]: text });
    const { notices, unknownKeys } = loadConfig(optionsFor(folder));
    const said = JSON.stringify([notices, unknownKeys]);
    t.ok(said.includes(file), text);
    t.notOk(said.includes('horse'), said);
  }
  t.notMatch(shortProblemsOf(t, { 'config.yaml': `auth: {keys: {phone: ${SECRET}}}` }).join(), /horse/);
});

t.test('[10.keys-revoked] the end of a key is reported once, and in time', async (t) => {
  let now = Date.UTC(2027, 0, 1);
  let passed = 0;
  let due: { readonly at: number; readonly fire: () => void } | undefined;
  const expired: string[] = [];
  const clock = {
    now: () => now,
    passed: () => passed,
    setTimer: (fire: () => void, delayMs: number) => {
      due = { at: passed + delayMs, fire };
    },
    clearTimer: () => {
      due = undefined;
    },
  };
  const pass = (ms: number) => {
    passed += ms;
    now += ms;
  };
  const advance = (toMs: number) => {
    const end = passed + toMs - now;
    for (let next = due; next !== undefined && next.at <= end; next = due) {
      pass(next.at - passed);
      due = undefined;
      next.fire();
    }
    pass(end - passed);
  };
  const expiry = new KeyExpiry((names) => expired.push(names.join()), clock);
  const ends = {
    a: '2027-01-01T01:00:00Z',
    b: '2027-01-01T01:00:00Z',
    c: '2027-01-01T00:00:30Z',
    old: '2026-01-01',
  };
  const [endOfA, endOfC] = [endOf({ expires: ends.a }), endOf({ expires: ends.c })];
  const keys = {
    ...Object.fromEntries(Object.entries(ends).map(([name, expires]) => [name, { expires }])),
    ever: {},
  };
  expiry.follow(keys);
  advance(endOfC - 1);
  t.strictSame(expired, []);
  advance(endOfC);
  t.strictSame(expired.splice(0), ['c']);
  advance(endOfA - 1);
  t.strictSame(expired, []);
  // The clock is set by hours, of which no timer knows: it is seen within 5 s.
  now += 3_600_000;
  advance(now + 5000);
  t.strictSame(expired.splice(0), ['a,b']);
  now = endOfA - 1_800_000;
  advance(endOfA - 1);
  t.strictSame(expired, []);
  advance(endOfA + 90_000);
  t.strictSame(expired.splice(0), ['a,b'], 'set back: they lived again');
  // Between two looks the clock is set back, and they live and end again.
  now = endOfA - 2000;
  pass(10_000);
  expiry.follow(keys);
  t.strictSame(expired.splice(0), ['a,b'], 'noticed by the reload, as by a timer');
  pass(10);
  expiry.follow(keys);
  t.strictSame(expired, [], 'once');
  expiry.follow({ ever: {} });
  t.equal(due, undefined, 'nothing is left to wait for');
  expiry.follow({ d: { expires: '2027-01-02' } });
  t.match(due, { at: passed + 5000 }, 'the clock may be set at any time');
  expiry.close();
  t.equal(due, undefined);
});
