/** `hostwire check` and `hostwire keygen`. */
import path from 'node:path';
import t from 'tap';
import { generateKey } from '#src/cli/certificate.js';
import { checkConfiguration } from '#src/cli/check.js';
import { ROWS } from '#src/config/rows/key-table.js';
import { type Files, makeFolder, optionsFor, writeFiles } from '../config/loading.ts';

const KEY = 'hunter2hunter2hunter2hunter2hunter2';

function check(
  t: { teardown(run: () => void): void },
  files: Files,
  overrides = new Map<string, { value: unknown; option: string }>(),
  isJson = false,
) {
  const folder = makeFolder(t);
  writeFiles(folder, files);
  const { text, exitCode } = checkConfiguration(optionsFor(folder, { overrides }), isJson);
  return { text: text.replaceAll(`${folder}${path.sep}`, ''), exitCode };
}

t.test('[9.check] a line end in a name forges no line', async (t) => {
  const keys = 'auth: {keys_folder: keys}';
  for (const files of [
    { 'config.yaml': keys, 'keys/a\nforged: x.yaml': '' },
    { 'config.yaml': 'auth: {keys_folder: "keys\\nforged"}' },
    { 'config.yaml': 'processes: {launch: {x: {command: "/x\\nforged"}}}' },
  ]) {
    const { text } = check(t, files);
    t.match(text, /forged/);
    t.notMatch(text, /^forged/m);
  }
});

t.test('[9.check] prints every key with its value and origin, secrets masked', async (t) => {
  const overrides = new Map([['server.port', { value: 80, option: '--port' }]]);
  const { text, exitCode } = check(
    t,
    {
      'config.json': JSON.stringify({ auth: { enabled: true, api_key: KEY, allowed_ips: ['10.0.0.1'] } }),
      'config.yaml':
        '\nfeatures: {enable_sleep: false}\nprocesses:\n  launch:\n    x: {command: /x, args: [a], env: {TOKEN: hunter2}}\n',
    },
    overrides,
  );
  t.equal(exitCode, 0);
  t.notMatch(text, /hunter2/);
  const lines = text.split('\n');
  t.equal(lines[0], 'Files: config.json, config.yaml');
  const compact = lines.map((line) => line.replace(/ {2,}/, ' '));
  for (const line of [
    'auth.enabled = true (config.json:1)',
    'auth.api_key = (set, not shown) (config.json:1)',
    'auth.api_key_file = (none) (default)',
    'auth.allowed_ips = ["10.0.0.1"] (config.json:1)',
    'features.enable_sleep = false (config.yaml:2)',
    'features.enable_hibernate = false (default: follows features.enable_sleep)',
    'server.port = 80 (option --port)',
    'server.host = "::" (default)',
    'stats.stream_interval_seconds = 2 (default)',
    'processes.launch.x = {"command":"/x","args":["a"],"env":{"TOKEN":"(not shown)"},"allow_args":false} (config.yaml:5)',
    'The configuration is valid.',
  ])
    t.ok(compact.includes(line), line);
  for (const key of ROWS.keys())
    t.equal(
      lines.filter((line) => line.startsWith(`${key} = `) || line.startsWith(`${key}.`)).length,
      1,
      key,
    );
  const origins = lines
    .filter((line) => / = .{1,9} +\(default\)$/.test(line))
    .map((line) => line.indexOf('(default)'));
  t.ok(origins.length > 5);
  t.same([...new Set(origins)], [50], 'the origins are a column');
});

t.test('[9.check-defaults] without a file', async (t) => {
  const { text, exitCode } = check(t, {});
  t.equal(exitCode, 0);
  t.match(text, /^No configuration file \(defaults only\)\.\n\n/);
  t.match(text, /^auth\.api_key = \(none\) +\(default\)$/m);
  t.match(text, /^processes\.launch = \{\} +\(default\)$/m);
  t.match(text, /\n\nThe configuration is valid\.\n$/);
});

t.test('[9.check-errors] fails on errors', async (t) => {
  t.same(check(t, { 'config.yaml': 'log: {level: x}\nauth: {api_kez: hunter2}' }), {
    exitCode: 1,
    text: 'error: config.yaml:1: log.level: expected "error", "warn", "info" or "debug", found "x"\nerror: config.yaml:2: auth.api_kez: unknown key; did you mean auth.api_key?\n',
  });
});

t.test('[9.check-unknown] fails on unknown keys that only warn elsewhere', async (t) => {
  const { text, exitCode } = check(t, {
    'config.yaml': 'theme: dark\nauth: {enabled: true, api_key: short}\n',
  });
  t.equal(exitCode, 1);
  t.match(
    text,
    /\n\nwarn: auth\.api_key has fewer than 32 characters.*\nerror: config\.yaml:1: theme: unknown key, ignored; .*\nThe configuration has errors\.\n$/,
  );
  t.notMatch(text, 'warn: config.yaml:1');
});

t.test('[9.check-auth] fails where it prints an error: authentication without a key', async (t) => {
  const { text, exitCode } = check(t, { 'config.yaml': 'auth: {enabled: true}\n' });
  t.equal(exitCode, 1);
  t.match(text, /\nerror: auth\..*\nThe configuration has errors\.\n$/);
});

t.test('[9.json] check --json: the same as data', async (t) => {
  const files = {
    'config.yaml': `theme: dark\nauth: {enabled: true, api_key: ${'k'.repeat(40)}}\nfeatures: {enable_process_control: true}\nprocesses: {launch: {x: {command: /bin/sh, env: {A: secret}}}}\n`,
  };
  const { text, exitCode } = check(t, files, new Map(), true);
  t.equal(exitCode, 1);
  t.notMatch(text, /kkkk|"secret"/);
  const report = JSON.parse(text);
  t.match(report, {
    valid: false,
    files: [/config\.yaml$/],
    settings: {
      'auth.api_key': { value: '(set, not shown)', origin: /config\.yaml:2$/ },
      'auth.api_key_file': { value: null, origin: 'default' },
      'server.port': { value: 9990, origin: 'default' },
      'processes.launch.x': {
        value: { command: '/bin/sh', env: { A: '(not shown)' } },
        origin: /config\.yaml:4$/,
      },
    },
    notices: [{ level: 'error', text: /config\.yaml:1: theme: unknown key/ }],
  });
  const broken = check(t, { 'config.yaml': 'log: {level: x}' }, new Map(), true);
  t.equal(broken.exitCode, 1);
  t.match(JSON.parse(broken.text), {
    valid: false,
    notices: [{ level: 'error', text: /log\.level: expected/ }],
  });
  t.match(JSON.parse(check(t, {}, new Map(), true).text), { valid: true, notices: [] });
});

t.test('an error that is not about the configuration is thrown', async (t) => {
  t.throws(() => check(t, {}, new Map([['server.prot', { value: 1, option: '--prot' }]])), /not a key/);
});

t.test('[9.keygen] 64 hex characters, another each time', async (t) => {
  const keys = new Set(Array.from({ length: 20 }, () => generateKey().text));
  t.equal(keys.size, 20);
  for (const key of keys) t.match(key, /^[0-9a-f]{64}\n$/);
  t.equal(generateKey().exitCode, 0);
});
