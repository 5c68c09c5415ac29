/** `hostwire pair` and the configuration that packages ship: what it opens, and what it leaves as it is. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import { compileAccess, decideAccess } from '#src/access/decide.js';
import { FORWARDING_HEADERS } from '#src/access/request.js';
import { replaceText } from '#src/cli/keys/open-config.js';
import { pair } from '#src/cli/keys/pair.js';
import { judgeFailure, planPairing, restartCommand } from '#src/cli/keys/pairing.js';
import { LOCAL_CLIENTS, openLines, SHIPPED_LINES, type ShippedKey } from '#src/cli/keys/shipped-lines.js';
import type { PairWords } from '#src/cli/pair-words.js';
import { judgeTerminal } from '#src/cli/terminal.js';
import { loadConfig } from '#src/config/load.js';
import { type RequestChange, requestOf, verdictOf } from '../access/setup.ts';
import { makeFolder, optionsFor, writeFiles } from '../config/loading.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const SHIPPED = readFileSync(path.join(ROOT, 'packaging/config.yaml'), 'utf8');
const NOW_MS = Date.UTC(2027, 0, 1);
const WORDS: PairWords = { name: undefined, scopes: undefined, expires: undefined, url: undefined };
const PLAIN = judgeTerminal({}, false);

const lineOf = (text: string, key: ShippedKey) => text.split(/\r?\n/).indexOf(SHIPPED_LINES[key].shipped) + 1;
const placesIn = (text: string) => [
  { key: 'server.host', line: lineOf(text, 'server.host') } as const,
  { key: 'auth.enabled', line: lineOf(text, 'auth.enabled') } as const,
];
const opened = (text: string, ...keys: readonly ShippedKey[]) =>
  keys.reduce((so, key) => so.replace(SHIPPED_LINES[key].shipped, SHIPPED_LINES[key].open), text);

/** Pairs with `text` as the configuration. */
function setUp(t: Test, text: string) {
  const folder = makeFolder(t);
  writeFiles(folder, { 'config.yaml': text });
  const file = path.join(folder, 'config.yaml');
  const options = optionsFor(folder);
  const run = (words: Partial<PairWords> = {}) => {
    const output = pair({ ...WORDS, ...words }, options, true, PLAIN, NOW_MS, false);
    return { exitCode: output.exitCode, report: JSON.parse(output.text) };
  };
  return { folder, file, options, run, text: () => readFileSync(file, 'utf8') };
}

t.test('[10.pair-open] two lines are opened, and every other byte stays', async (t) => {
  const [host, auth] = placesIn(SHIPPED);
  t.ok(host && auth && host.line > 0 && auth.line > 0, 'the file in packaging/ has both');
  const expected = opened(SHIPPED, 'server.host', 'auth.enabled');
  t.equal(openLines(SHIPPED, placesIn(SHIPPED)), expected);
  t.equal(SHIPPED.split('\n').filter((line, at) => line !== expected.split('\n')[at]).length, 2);
  const windows = SHIPPED.replaceAll('\n', '\r\n');
  t.equal(openLines(windows, placesIn(windows)), expected.replaceAll('\n', '\r\n'), 'with CRLF');
  const mixed = `\r\n\xff\x80${SHIPPED}`.replace('#host', '\t#host');
  t.equal(openLines(mixed, placesIn(mixed)), opened(mixed, 'server.host', 'auth.enabled'));
  const edits: readonly ((line: string) => string)[] = [
    (line) => `${line} `,
    (line) => line.replace(' #', '  #'),
    (line) => line.replace('127.0.0.1', '127.0.0.2').replace('false', 'no'),
    (line) => line.replace(' # hostwire pair', ''),
    (line) => `#${line}`,
    () => '',
  ];
  for (const edit of edits)
    for (const { key, line } of placesIn(SHIPPED)) {
      const { shipped } = SHIPPED_LINES[key];
      const edited = SHIPPED.replace(shipped, edit(shipped));
      t.equal(openLines(edited, [{ key, line }]), undefined, edit(shipped));
    }
  t.equal(openLines(SHIPPED, [{ key: 'server.host', line: 1000 }]), undefined);
});

t.test('[10.pair-open] pairing opens the shipped configuration, with a key for every client', async (t) => {
  const { folder, file, options, run, text } = setUp(t, SHIPPED);
  chmodSync(file, 0o640);
  const { exitCode, report } = run();
  t.equal(exitCode, 0);
  t.equal(text(), opened(SHIPPED, 'server.host', 'auth.enabled'));
  t.equal(statSync(file).mode & 0o777, 0o640);
  t.strictSame(readdirSync(folder).sort(), ['config.yaml', 'keys'], 'no temporary file is left');
  const { config, notices } = loadConfig(options);
  t.match(config, { server: { host: '::' }, auth: { enabled: true, guests: undefined } });
  t.match(config.auth.keys['phone'], { digest: report.digest });
  t.strictSame(notices, [], 'a key of the folder is a key');
  t.notMatch(report.url, /127\.|localhost:9990.*127/, 'an address of the network, if this machine has one');
  t.match(report.changed, [
    `${file}:${lineOf(SHIPPED, 'server.host')}: host: "::" # hostwire pair`,
    /enabled: true/,
  ]);
  t.equal(report.restart, 'systemctl --user restart hostwire');
  t.strictSame(
    report.warnings.filter((warning: string) => /auth\.enabled|listens/.test(warning)),
    [],
  );
  const again = run({ name: 'tablet' });
  t.match(again, { exitCode: 0, report: { changed: [], restart: null } }, 'the second key changes nothing');
  t.strictSame(readdirSync(path.join(folder, 'keys')).sort(), ['phone.yaml', 'tablet.yaml']);
});

t.test('[10.pair-open] behind a proxy the address to listen on stays', async (t) => {
  const { run, text } = setUp(t, SHIPPED);
  const { report } = run({ url: 'https://pc.example.org/' });
  t.equal(text(), opened(SHIPPED, 'auth.enabled', 'auth.allowed_ips'));
  t.match(report, { restart: null, url: /^https:\/\/pc\.example\.org\/#key=/ });
  t.match(report.warnings, [/must be a proxy on this machine/]);
  const local = setUp(t, SHIPPED);
  for (const [at, url] of ['http://localhost:9990/', 'http://[::1]:9990/'].entries())
    local.run({ url, name: `local${at}` });
  t.equal(local.text(), opened(SHIPPED, 'auth.enabled'), 'nor for a program on this machine');
  const direct = setUp(t, SHIPPED);
  direct.run({ url: 'http://nas.lan:9990' });
  t.equal(
    direct.text(),
    opened(SHIPPED, 'server.host', 'auth.enabled'),
    "but the service's own port is opened",
  );
});

t.test(
  '[10.pair-local] clients on this machine need no key after a pairing, others and foreign pages do',
  async (t) => {
    const { options, run } = setUp(t, SHIPPED);
    run();
    const judge = (change: RequestChange) =>
      verdictOf(decideAccess(compileAccess(loadConfig(options).config, ['pc']), requestOf(change)));
    const local = { remoteAddress: '127.0.0.1' };
    const cases: readonly (readonly [change: RequestChange, verdict: string])[] = [
      [local, 'keyless'],
      [{ remoteAddress: '::1' }, 'keyless'],
      [{ remoteAddress: '::ffff:127.0.0.1' }, 'keyless'],
      [{ remoteAddress: '192.168.1.9' }, '401'],
      // A proxy on this machine.
      ...FORWARDING_HEADERS.map((name) => [{ ...local, headers: { [name]: '192.0.2.1' } }, '401'] as const),
      // Pages of other sites in a browser on this machine, and a proxy that only passes the name on.
      [{ ...local, headers: { host: 'pc.example.org' } }, '403 host_not_allowed'],
      [{ ...local, headers: { origin: 'https://evil.example' } }, '403 origin_not_allowed'],
      [{ ...local, headers: { 'sec-fetch-site': 'cross-site' } }, '403 origin_not_allowed'],
    ];
    for (const [change, expected] of cases) t.equal(judge(change), expected, JSON.stringify(change));
    // A proxy may send no header that names its client.
    run({ name: 'far', url: 'https://pc.example.org/' });
    t.equal(judge(local), '401', 'closed with the first link to a proxy');
  },
);

t.test('[10.pair-local] a published port of a container leads to its loopback address', async (t) => {
  const { options, text } = setUp(t, SHIPPED);
  pair({ ...WORDS, url: 'http://nas.lan:9990/' }, options, true, PLAIN, NOW_MS, true);
  t.equal(text(), opened(SHIPPED, 'server.host', 'auth.enabled', 'auth.allowed_ips'));
});

t.test('[10.pair-notes] what the key cannot do, and who needs one now', async (t) => {
  const older = SHIPPED.replace(`  ${LOCAL_CLIENTS}`, `  #${LOCAL_CLIENTS}`);
  const list = SHIPPED.replace(LOCAL_CLIENTS, 'allowed_ips: ["192.168.1.0/24"]');
  const panel = SHIPPED.replace(LOCAL_CLIENTS, 'allowed_ips: ["192.168.1.50"]');
  const cases: readonly (readonly [text: string, words: Partial<PairWords>, note: string | undefined])[] = [
    [SHIPPED, {}, undefined],
    [older, {}, `to admit clients on this machine without a key, set in auth: ${LOCAL_CLIENTS}`],
    [list, {}, 'auth.allowed_ips has no "*", so a client at any other address is refused, with a key too'],
    [panel, {}, 'auth.allowed_ips has no "*", so a client at any other address is refused, with a key too'],
    [
      SHIPPED,
      { scopes: 'read,power' },
      'the key phone cannot use power.restart (features.enable_restart is false), power.shutdown (features.enable_shutdown is false)',
    ],
    [SHIPPED, { scopes: 'admin' }, undefined],
  ];
  for (const [text, words, note] of cases) {
    const { warnings } = setUp(t, text).run(words).report;
    const found = warnings.filter((each: string) => !/plain HTTP/.test(each));
    t.match(found.at(-1), note);
    t.equal(found.length, note === undefined ? 0 : text === list || text === panel ? 2 : 1, `${found}`);
  }
  const { options } = setUp(t, SHIPPED);
  t.match(pair(WORDS, options, false, PLAIN, NOW_MS, false).text, 'a key, except those on this machine.');
  const again = pair({ ...WORDS, name: 'tv' }, options, true, PLAIN, NOW_MS, false, true);
  t.equal(JSON.parse(again.text).restart, 'systemctl --user restart hostwire', 'while it is missing');
});

t.test('[10.pair-open] lines that are not as shipped are named, and nothing is stored', async (t) => {
  const cases = {
    'a host of its own': SHIPPED.replace('127.0.0.1 # hostwire pair', '127.0.0.1 # mine'),
    'no authentication on purpose': SHIPPED.replace('false # hostwire pair', 'false # mine'),
    'a host in another file': SHIPPED.replace(SHIPPED_LINES['server.host'].shipped, '  port: 9990'),
    'no folder for keys': SHIPPED.replace('  keys_folder: keys\n', ''),
  };
  for (const [name, edited] of Object.entries(cases)) {
    const { folder, file, run, text } = setUp(t, edited);
    if (name === 'a host in another file')
      writeFiles(folder, { 'config.json': '{"server": {"host": "::1"}}' });
    const { exitCode, report } = run();
    t.equal(exitCode, 1, name);
    t.match(
      report.error,
      /^the service listens only on (?:127\.0\.0\.1|::1), so other devices cannot reach it\. Set server\.host/,
    );
    const where =
      name === 'a host in another file' ? 'config.json:1' : `${file}:${lineOf(SHIPPED, 'server.host')}`;
    t.ok(
      report.error.includes(
        `server.host to "::" (${where.startsWith('/') ? where : path.join(folder, where)})`,
      ),
      where,
    );
    t.match(report.error, 'auth.enabled to true');
    t.notOk('url' in report, 'no link that leads nowhere');
    t.equal(text(), edited);
    t.notOk(readdirSync(folder).includes('keys'));
  }
});

t.test('[10.pair-open] a name that is taken changes nothing', async (t) => {
  const { folder, run, text } = setUp(t, SHIPPED);
  writeFiles(folder, { 'keys/phone.json': `{"digest": "sha256/${'A'.repeat(43)}=", "scopes": ["read"]}` });
  const error =
    'there is already a key named phone; choose another name with --name, or remove it with "hostwire keys remove phone"';
  t.match(run(), { exitCode: 1, report: { error } });
  t.equal(text(), SHIPPED);
});

t.test('[10.pair-open] a link is followed, and the link stays', async (t) => {
  const { folder, file, run } = setUp(t, SHIPPED);
  const real = path.join(folder, 'real.yaml');
  writeFileSync(real, SHIPPED, { mode: 0o600 });
  rmSync(file);
  symlinkSync('real.yaml', file);
  t.equal(run().exitCode, 0);
  t.equal(readFileSync(real, 'utf8'), opened(SHIPPED, 'server.host', 'auth.enabled'));
  t.ok(
    readdirSync(folder, { withFileTypes: true })
      .find(({ name }) => name === 'config.yaml')
      ?.isSymbolicLink(),
  );
});

t.test('[10.pair-open] the umask of the one who pairs keeps no key from the service', async (t) => {
  const before = process.umask(0o077);
  t.teardown(() => process.umask(before));
  const { folder, run } = setUp(t, SHIPPED);
  run();
  t.equal(statSync(path.join(folder, 'keys')).mode & 0o777, 0o755);
  t.equal(statSync(path.join(folder, 'keys/phone.yaml')).mode & 0o777, 0o644);
});

t.test('[10.pair-open] owner and mode stay', async (t) => {
  const folder = t.testdir({ 'config.yaml': 'a' });
  const file = path.join(folder, 'config.yaml');
  if (process.getuid?.() === 0) chownSync(file, 1234, 2345);
  chmodSync(file, 0o640);
  const { uid, gid } = statSync(file);
  replaceText(file, 'b\xff', true);
  t.strictSame(readFileSync(file), Buffer.from([0x62, 0xff]));
  t.match(statSync(file), { uid, gid });
  t.equal(statSync(file).mode & 0o777, 0o640);
  t.throws(() => replaceText(path.join(folder, 'none.yaml'), 'b', true), { code: 'ENOENT' });
  t.strictSame(readdirSync(folder).sort(), ['config.yaml']);
});

t.test('[10.pair-open] the command that restarts the service', async (t) => {
  t.equal(restartCommand('/etc/hostwire/config.yaml', 'linux', false), 'systemctl restart hostwire');
  t.equal(
    restartCommand('/home/a/.config/hostwire/config.yaml', 'linux', false),
    'systemctl --user restart hostwire',
  );
  t.equal(restartCommand('/etc/hostwire/config.yaml', 'linux', true), 'restart the container');
  t.equal(
    restartCommand('C:\\ProgramData\\hostwire\\config.yaml', 'win32', false),
    'sc stop hostwire, then sc start hostwire',
  );
});

/** Runs as a user who owns nothing here, where this is root. */
function asOther<Result>(run: () => Result): Result {
  if (process.geteuid?.() !== 0) return run();
  process.seteuid?.(65_534);
  try {
    return run();
  } finally {
    process.seteuid?.(0);
  }
}

t.test("[10.pair-refused] another user's configuration stays, and sudo is named", async (t) => {
  const { folder, file, run, text } = setUp(t, SHIPPED);
  chmodSync(path.dirname(folder), 0o755);
  chmodSync(file, 0o444);
  for (const hasKeys of [false, true]) {
    if (hasKeys) {
      mkdirSync(path.join(folder, 'keys'));
      // Where only the configuration is protected, no key is left behind.
      chmodSync(path.join(folder, 'keys'), 0o777);
    }
    chmodSync(folder, 0o555);
    const { exitCode, report } = asOther(() => run());
    chmodSync(folder, 0o755);
    t.equal(exitCode, 1);
    t.match(report.error, `this user cannot write to ${folder}. Run it as root ("sudo hostwire pair"`);
    t.notOk('key' in report);
    t.equal(text(), SHIPPED);
    t.strictSame(readdirSync(folder).sort(), hasKeys ? ['config.yaml', 'keys'] : ['config.yaml']);
    if (hasKeys) t.strictSame(readdirSync(path.join(folder, 'keys')), []);
  }
});

t.test('[10.pair-refused] on a read-only mount the owner gets the lines', async (t) => {
  const { options, file } = setUp(t, SHIPPED);
  const loaded = loadConfig(options);
  const { opening } = planPairing(loaded, undefined);
  const judge = (code: string, platform = 'linux') =>
    judgeFailure(Object.assign(new Error('no'), { code }), opening, { loaded, platform });
  const toChange = [
    `${file}:${lineOf(SHIPPED, 'server.host')}: host: "::" # hostwire pair`,
    `${file}:${lineOf(SHIPPED, 'auth.enabled')}: enabled: true # hostwire pair`,
  ];
  for (const code of ['EROFS', 'EBUSY']) t.match(judge(code), { changed: [], toChange, failure: undefined });
  t.match(judge('EPERM', 'win32').failure, 'in a terminal opened as administrator');
  t.match(judge('ENOSPC'), { failure: 'no', changed: [] });
});
