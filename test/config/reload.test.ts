/** Reloading: the keys that take effect, the keys that stay, and the messages. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { DEFAULT_CONFIG, readKey, toConfig } from '#src/config/config.js';
import { keepRestartKeys } from '#src/config/reload.js';
import { ROWS } from '#src/config/rows/key-table.js';
import { startReloader } from './reloading.ts';

t.test('[8.reload] SIGHUP reloads, and a valid configuration takes effect', async (t) => {
  const { reloader, config, at, applied, said } = startReloader(t, { 'config.yaml': 'log: {level: info}' });
  reloader.reload();
  t.same(applied, [], 'nothing has changed');
  writeFileSync(at('config.yaml'), 'log: {level: debug}\nstats: {stream_interval_seconds: 0.5}');
  reloader.reload();
  t.equal(applied.length, 1);
  t.equal(applied[0]?.log.level, 'debug');
  t.equal(applied[0]?.stats.stream_interval_seconds, 1);
  t.equal(config.current, applied[0]);
  t.ok(Object.isFrozen(applied[0]?.log));
  t.same(said, ['warn: config.yaml:2: stats.stream_interval_seconds: 0.5 is below the minimum; using 1']);
  reloader.reload();
  t.equal(said.length, 1, 'not repeated');
  writeFileSync(at('config.yaml'), 'log: {level: debug}');
  reloader.reload();
  writeFileSync(at('config.yaml'), 'log: {level: debug}\nstats: {stream_interval_seconds: 0.5}');
  reloader.reload();
  t.equal(said.length, 2, 'reported again after it was gone');
});

t.test(
  '[8.reload-bad] a bad file keeps the old configuration, with one error naming file, line and key',
  async (t) => {
    const { reloader, config, at, applied, said } = startReloader(t, {
      'config.yaml': 'log: {level: warn}',
      'config.json': '{"server": {"max_streams": 3}}',
    });
    writeFileSync(at('config.yaml'), 'log:\n  level: loud\n  levle: x\n');
    writeFileSync(at('config.json'), '{"server": {"max_streams": 9}}');
    reloader.reload();
    const error =
      'error: the configuration was not reloaded, the old one stays in effect: config.yaml:2: log.level: expected "error", "warn", "info" or "debug", found "loud"; config.yaml:3: log.levle: unknown key; did you mean log.level?';
    t.same(said, [error]);
    t.same(applied, [], 'nothing of the valid file either');
    t.equal(config.current.log.level, 'warn');
    t.equal(config.current.server.max_streams, 3);
    reloader.reload();
    t.same(said, [error, error], 'SIGHUP reports it again');
    writeFileSync(at('config.yaml'), 'log: {level: error}');
    reloader.reload();
    t.match(applied, [{ log: { level: 'error' }, server: { max_streams: 9 } }]);
  },
);

t.test('[8.reload-deleted] a deleted file keeps the old configuration, with one error', async (t) => {
  for (const paths of [[], ['config.yaml']]) {
    const { reloader, config, at, applied, said, settle } = startReloader(
      t,
      { 'config.yaml': 'auth: {enabled: true, blocked_ips: [1.1.1.1]}' },
      { paths },
    );
    reloader.start();
    rmSync(at('config.yaml'));
    await settle(() => said.length > 0);
    t.same(said, [
      'error: the configuration was not reloaded, the old one stays in effect: config.yaml: cannot be opened: it does not exist; correct the path, or create the file',
    ]);
    t.same(applied, []);
    t.equal(config.current.auth.enabled, true);
    writeFileSync(at('config.yaml'), 'auth: {enabled: true, blocked_ips: [2.2.2.2]}');
    await settle(() => applied.length > 0);
    t.same(
      applied.map(({ auth }) => auth.blocked_ips.entries),
      [['2.2.2.2']],
      'and is applied when it is back',
    );
    t.equal(said.length, 1, 'the notices of the start are not repeated');
    reloader.close();
  }
});

t.test('[8.reload-restart] keys that need a restart say so and keep their old values', async (t) => {
  const restart = [...ROWS].filter(([, row]) => row.needsRestart === true).map(([key]) => key);
  const ofServer = ['server.host', 'server.port', 'server.engine', 'server.tls.port'];
  const ofHost = ['host.root', 'host.name', 'host.id', 'host.labels', 'host.proc', 'host.sys'];
  t.same(restart, [
    ...ofServer,
    'power.backend',
    'history.path',
    'hub.state_path',
    ...ofHost,
    'log.format',
    'log.file',
  ]);
  const { reloader, at, applied, said } = startReloader(t, { 'config.yaml': 'server: {port: 1}' });
  const text =
    'server: {port: 2, host: 127.0.0.1, max_streams: 5}\npower: {backend: record}\nhost: {proc: /p, sys: /s}\n';
  writeFileSync(at('config.yaml'), text);
  reloader.reload();
  const lines = [
    'warn: server.host is now "127.0.0.1": restart needed, "::" stays in effect',
    'warn: server.port is now 2: restart needed, 1 stays in effect',
    'warn: power.backend is now "record": restart needed, "system" stays in effect',
    'warn: host.proc is now "/p": restart needed, "/proc" stays in effect',
    'warn: host.sys is now "/s": restart needed, "/sys" stays in effect',
  ];
  t.same(said, lines);
  t.match(applied, [
    {
      server: { port: 1, host: '::', max_streams: 5 },
      power: { backend: 'system' },
      host: { proc: '/proc', sys: '/sys' },
    },
  ]);
  reloader.reload();
  t.same(said, lines, 'once');
  writeFileSync(at('config.yaml'), 'server: {port: 3, max_streams: 5}');
  reloader.reload();
  t.same(
    said.slice(lines.length),
    ['warn: server.port is now 3: restart needed, 1 stays in effect'],
    'compared with the value in effect',
  );
  t.equal(applied.length, 1);
});

t.test(
  '[8.reload-restart] a map that has not changed needs no restart, and one that has is shown',
  async (t) => {
    const { reloader, at, said } = startReloader(t, { 'config.yaml': 'host: {labels: {site: berlin}}' });
    reloader.reload();
    t.same(said, []);
    writeFileSync(at('config.yaml'), 'host: {labels: {site: hamburg}}');
    reloader.reload();
    t.same(said, [
      'warn: host.labels is now {"site":"hamburg"}: restart needed, {"site":"berlin"} stays in effect',
    ]);
  },
);

t.test('[8.reload-rest] every other key takes effect', async (t) => {
  const other: Readonly<Record<string, unknown>> = {
    'log.level': 'warn',
    'processes.launch': { x: { command: '/x', args: [], env: {}, allow_args: false } },
  };
  for (const [key, row] of ROWS) {
    const value =
      other[key] ??
      (typeof row.default === 'boolean'
        ? !row.default
        : typeof row.default === 'number'
          ? row.default + 1
          : Array.isArray(row.default)
            ? ['x']
            : 'else');
    const { config, restart } = keepRestartKeys(DEFAULT_CONFIG, toConfig(new Map([[key, value]])));
    t.strictSame(readKey(config, key), row.needsRestart ? row.default : value, key);
    t.equal(restart.length, row.needsRestart ? 1 : 0);
  }
});

t.test(
  '[8.reload-watch] changed files are reloaded automatically: rename-over, the key file, a second file',
  async (t) => {
    const key = (letter: string) => letter.repeat(40);
    const { reloader, config, at, applied, said, settle } = startReloader(t, {
      'config.yaml': 'auth: {api_key_file: key}',
      key: key('a'),
    });
    reloader.start();
    reloader.start();
    writeFileSync(at('key.new'), key('b'), { mode: 0o600 });
    renameSync(at('key.new'), at('key'));
    await settle(() => applied.length === 1);
    t.equal(applied[0]?.auth.api_key, key('b'));
    writeFileSync(at('config.new'), 'auth: {api_key_file: other}', { mode: 0o600 });
    renameSync(at('config.new'), at('config.yaml'));
    await settle(() => said.length === 1);
    t.same(said, [
      'error: the configuration was not reloaded, the old one stays in effect: config.yaml:1: auth.api_key_file: the file it names: cannot be opened: it does not exist; correct the path, or create the file',
    ]);
    t.equal(config.current.auth.api_key, key('b'));
    writeFileSync(at('other'), key('c'), { mode: 0o600 });
    await settle(() => applied.length === 2);
    t.equal(applied[1]?.auth.api_key, key('c'), 'the missing key file appeared');
    writeFileSync(at('config.json'), '{"log": {"level": "warn"}}', { mode: 0o600 });
    await settle(() => applied.length === 3);
    t.equal(applied[2]?.log.level, 'warn', 'a file beside the first');
    t.equal(said.length, 1);
    rmSync(at('config.json'));
    await settle(() => said.length === 2);
    t.equal(said[1], 'warn: config.json: gone, its settings no longer apply');
    t.equal(applied[3]?.log.level, 'info');
    reloader.close();
    writeFileSync(at('config.json'), '{"log": {"level": "error"}}');
    await sleep(300);
    t.equal(applied.length, 4, 'closed');
  },
);

t.test('[8.reload-first] without a file at the start, the first one to appear is loaded', async (t) => {
  const { reloader, at, applied, settle } = startReloader(t, {});
  reloader.start();
  writeFileSync(at('config.yml'), 'log: {level: warn}');
  await settle(() => applied.length > 0);
  t.match(applied, [{ log: { level: 'warn' } }]);
});

t.test('[10.keys-revoked] a key that ends while its configuration is read again is reported', async (t) => {
  const digest = `sha256/${'A'.repeat(43)}=`;
  const lifeMs = 150;
  const expires = new Date(Date.now() + lifeMs).toISOString();
  const { reloader, applied, results } = startReloader(t, {
    'config.json': JSON.stringify({ auth: { keys: { phone: { digest, scopes: ['read'], expires } } } }),
  });
  reloader.start();
  const endsAtMs = Date.parse(expires);
  // The loop is busy over the end, so that the reload is before its timer.
  while (Date.now() < endsAtMs);
  reloader.reload();
  t.equal(applied.length, 1, 'what is open is judged again');
  t.equal(results[0], 'info: expired: auth.keys.phone');
  await sleep(50);
  t.equal(applied.length, 1, 'once');
});

t.test('[10.keys-revoked] a key that is gone is dropped whatever else is wrong', async (t) => {
  const keyOf = (letter: string) => ({ digest: `sha256/${letter.repeat(43)}=`, scopes: ['read'] });
  const configOf = (letters: string, more = {}) =>
    JSON.stringify({
      auth: {
        keys_folder: 'keys',
        keys: Object.fromEntries([...letters].map((letter) => [letter, keyOf(letter)])),
      },
      ...more,
    });
  const { reloader, config, at, said, settle, applied } = startReloader(t, {
    'config.json': configOf('AB'),
    'keys/C.json': JSON.stringify(keyOf('C')),
    'keys/D.json': JSON.stringify(keyOf('D')),
    'keys/E.json': JSON.stringify(keyOf('E')),
  });
  reloader.start();
  const names = () => Object.keys(config.current.auth.keys).join('');
  const wrong = { log: { level: 'loud' } };
  const change = async (wanted: string, make: () => void) => {
    make();
    await settle(() => names() === wanted);
  };
  t.equal(names(), 'ABCDE');
  await change('ABCD', () => writeFileSync(at('keys/E.json'), '{'));
  t.match(said.splice(0), [/^error: keys\/E\.json:1: auth\.keys\.E: not JSON.*; this key is not accepted$/]);
  await change('ABD', () => rmSync(at('keys/C.json')));
  await change('BD', () => writeFileSync(at('config.json'), configOf('B', wrong)));
  t.match(said.splice(0), [/^error: the configuration was not reloaded.*log\.level/]);
  await change('B', () => rmSync(at('keys/D.json')));
  t.equal(applied.at(-1), config.current, 'what is open was judged again');
  writeFileSync(at('config.json'), '{');
  reloader.reload();
  t.equal(names(), 'B', 'a file that cannot be parsed takes back nothing');
  rmSync(at('config.json'));
  reloader.reload();
  t.equal(names(), 'B', 'nor does one that is missing');
  const other = { ...wrong, auth: { keys: { B: keyOf('F') } } };
  await change('', () => writeFileSync(at('config.json'), JSON.stringify(other)));
  await change('BF', () => writeFileSync(at('config.json'), configOf('BF')));
});

t.test('[8.reload-gap] a change between the load and the start of watching is applied', async (t) => {
  const { reloader, at, applied } = startReloader(t, { 'config.yaml': 'log: {level: info}' });
  writeFileSync(at('config.yaml'), 'log: {level: warn}');
  reloader.start();
  t.match(applied, [{ log: { level: 'warn' } }]);
});

t.test('[8.reload-repeat] an unchanged error is not reported again at each touch', async (t) => {
  const { reloader, config, at, said, settle } = startReloader(t, { 'config.yaml': 'log: {level: info}' });
  reloader.start();
  for (const text of ['log: {level: x}', 'log: {level: x} # touched', 'log: {level: x} # again']) {
    writeFileSync(at('config.yaml'), text);
    await sleep(150);
  }
  await settle(() => said.length > 0);
  t.equal(said.length, 1);
  writeFileSync(at('config.yaml'), 'log: {level: y}');
  await settle(() => said.length > 1);
  t.equal(said.length, 2);
  writeFileSync(at('config.yaml'), 'log: {level: warn}');
  await settle(() => config.current.log.level === 'warn');
  writeFileSync(at('config.yaml'), 'log: {level: y}');
  await settle(() => said.length > 2);
  t.equal(said.length, 3, 'reported again after a valid one');
});

t.test(
  '[8.reload-failing] a failure to apply is reported, and the old configuration stays in effect',
  async (t) => {
    let isFailing = true;
    const { reloader, config, at, said } = startReloader(
      t,
      { 'config.yaml': 'log: {level: info}' },
      {},
      () => {
        if (isFailing) throw new Error('no');
      },
    );
    writeFileSync(at('config.yaml'), 'log: {level: warn}');
    reloader.reload();
    t.same(said, ['error: the configuration was not reloaded, the old one stays in effect: Error: no']);
    t.equal(config.current.log.level, 'info');
    isFailing = false;
    reloader.reload();
    t.equal(config.current.log.level, 'warn');
  },
);

t.test('[8.reload-result] each reload is reported with its result', async (t) => {
  const { at, reloader, said, results } = startReloader(t, {
    'config.json': '{"stats":{"stream_interval_seconds":5}}',
  });
  reloader.reload();
  t.strictSame(results.splice(0), ['info: the configuration was read again: no changes']);
  writeFileSync(at('config.json'), '{"stats":{"stream_interval_seconds":6}}');
  reloader.reload();
  t.strictSame(results.splice(0), ['info: the configuration was reloaded']);
  writeFileSync(at('config.json'), '{"stats":');
  reloader.reload();
  t.equal(said.length, 1);
  writeFileSync(at('config.json'), '{"stats":{"stream_interval_seconds":6}}');
  reloader.reload();
  t.strictSame(results, ['info: the configuration was read again: no changes; it is valid again']);
});
