/** The contents of a configuration: types, limits, unknown keys, defaults, origins. */
import t from 'tap';
import { NO_ADDRESSES } from '#src/access/addresses.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import type { Loaded } from '#src/config/load.js';
import { loadConfig } from '#src/config/load.js';
import { load, makeFolder, optionsFor, problemsOf, shortProblemsOf, yaml } from './loading.ts';

const warningsOf = ({ notices }: Loaded) =>
  notices.map(({ level, text }) => `${level} ${text.replace(/^\/\S+\/(?=config\.)/, '')}`);

t.test('[8.no-file] no file: the defaults', async (t) => {
  const loaded = loadConfig(optionsFor(makeFolder(t)));
  t.strictSame(loaded.config, DEFAULT_CONFIG);
  t.same(loaded.notices, []);
  t.same(loaded.sources.files, []);
  t.ok(
    [...loaded.origins.entries()].every(
      ([key, origin]) => key === 'features.enable_hibernate' || origin === 'default',
    ),
  );
});

t.test('[8.defaults] [8.history] the documented defaults', async (t) => {
  t.equal(DEFAULT_CONFIG.stats.stream_interval_seconds, 2);
  t.strictSame(
    { ...DEFAULT_CONFIG.server },
    {
      host: '::',
      port: 9990,
      engine: 'auto',
      max_streams: 0,
      max_connections_per_address: 2048,
      max_streams_per_address: 1024,
      max_requests_per_address: 1024,
      max_kept_megabytes: 64,
      allowed_hosts: [],
      cors_origins: [],
      trusted_proxies: NO_ADDRESSES,
      tls: { cert: undefined, key: undefined, port: undefined },
    },
  );
  t.strictSame(
    { ...DEFAULT_CONFIG.features },
    {
      enable_sleep: true,
      enable_hibernate: true,
      enable_restart: false,
      enable_shutdown: false,
      enable_media: true,
      enable_processes: true,
      enable_process_control: false,
      enable_wake: false,
      enable_dashboard: true,
      enable_metrics: true,
    },
  );
  t.strictSame(
    { ...DEFAULT_CONFIG.auth },
    {
      enabled: false,
      api_key: undefined,
      api_key_file: undefined,
      keys: Object.create(null),
      keys_folder: undefined,
      guests: undefined,
      allowed_ips: NO_ADDRESSES,
      blocked_ips: NO_ADDRESSES,
      refuse_forwarded: true,
    },
  );
  t.strictSame(
    { ...DEFAULT_CONFIG.history },
    { minutes: 60, idle_interval_seconds: 10, on_battery: false, path: undefined, max_megabytes: 256 },
  );
  t.equal(DEFAULT_CONFIG.power.backend, 'system');
  t.strictSame({ ...DEFAULT_CONFIG.log }, { level: 'info', format: 'text', file: undefined });
  t.strictSame(
    { ...DEFAULT_CONFIG.host },
    {
      root: undefined,
      name: undefined,
      id: undefined,
      proc: '/proc',
      sys: '/sys',
      labels: {},
    },
  );
});

t.test('[8.frozen] the configuration cannot be changed, at any depth', async (t) => {
  const { config } = load(t, {
    'config.json': '{"processes":{"launch":{"x":{"command":"/x","args":["a"]}}}}',
  });
  for (const part of [
    config,
    config.auth,
    config.auth.allowed_ips,
    config.auth.allowed_ips.entries,
    config.auth.allowed_ips.rules,
    config.processes.launch,
    config.processes.launch['x'],
    config.processes.launch['x']?.args,
  ])
    t.ok(Object.isFrozen(part));
  t.ok(Object.isFrozen(DEFAULT_CONFIG.server.allowed_hosts));
  t.equal(config.processes.launch['constructor'], undefined, 'no app comes from a prototype');
  t.equal(DEFAULT_CONFIG.processes.launch['constructor'], undefined);
});

t.test('[8.null] a key without a value is not set, and a default that is a value is named', async (t) => {
  const text = `auth: {enabled: , api_key: , allowed_ips: }
features: {enable_process_control: true}
processes: {launch: {x: {command: /bin/sh, cwd: , env: }}}
server: {tls: {cert: ~, port: null}}
watch: {rules: }
`;
  const loaded = load(t, { 'config.yaml': text });
  const app = { command: '/bin/sh', args: [], env: {}, allow_args: false };
  t.strictSame(loaded.config.processes.launch['x'], app);
  const { processes, features } = DEFAULT_CONFIG;
  t.equal(loaded.config.features.enable_process_control, true);
  t.strictSame({ ...loaded.config, processes, features }, DEFAULT_CONFIG);
  t.same(warningsOf(loaded), ['warn config.yaml:1: auth.enabled: has no value; the default applies: false']);
  const files = { 'config.json': '{"auth": {"enabled": null}}', 'config.yaml': 'auth: {enabled: true}' };
  t.equal(load(t, files).config.auth.enabled, true, 'the other file sets it');
  t.same(yaml(t, 'processes: {launch: {x: {command: }}}'), [
    'config.yaml:1 processes.launch.x expected the key command, with an absolute path',
  ]);
});

t.test('[8.interval-below-one] a number is the minimum of its row at least', async (t) => {
  const text = 'stats: {stream_interval_seconds: 0.999}';
  const loaded = load(t, { 'config.json': `{${text.replaceAll(/(\w+):/g, '"$1":')}}`, 'config.yaml': text });
  t.equal(loaded.config.stats.stream_interval_seconds, 1);
  t.equal(loaded.notices.length, 1, 'one warning for two files');
});

t.test('[8.hibernate-follows] enable_hibernate follows enable_sleep where it is not set', async (t) => {
  const hibernate = (text: string) => {
    const { config, origins } = load(t, { 'config.yaml': text });
    return [config.features.enable_hibernate, origins.get('features.enable_hibernate')];
  };
  const follows = 'default: follows features.enable_sleep';
  t.same(hibernate('features: {enable_sleep: false}'), [false, follows]);
  t.same(hibernate('features: {enable_sleep: true}'), [true, follows]);
  t.same(hibernate('features: {}'), [true, follows]);
  t.match(hibernate('features: {enable_sleep: false, enable_hibernate: true}'), [true, /config\.yaml:1$/]);
  t.match(hibernate('features: {enable_sleep: true, enable_hibernate: false}'), [false, /config\.yaml:1$/]);
});

t.test('[8.all-at-once] all problems of all files are reported together, in order', async (t) => {
  const files = {
    'config.yaml': 'features:\n  enable_media: 1\n  enable_media: 2\nlog: {level: x}\n',
    'config.json': '{"server": {"port": "x"},\n "stats": {"stream_interval_seconds": "5"}}',
  };
  const overrides = new Map([['log.level', { value: 'loud', option: '--log-level' }]]);
  t.same(shortProblemsOf(t, files, { overrides }), [
    'config.json:1 server.port expected a whole number from 0 to 65535, found "x"',
    'config.json:2 stats.stream_interval_seconds expected a number of seconds from 1 to 86400, found "5"',
    'config.yaml:3 features.enable_media set twice; first in line 2',
    'config.yaml:3 features.enable_media expected true or false, found 2',
    'config.yaml:4 log.level expected "error", "warn", "info" or "debug", found "x"',
    'option --log-level:- log.level expected "error", "warn", "info" or "debug", found "loud"',
  ]);
});

t.test('a key that was replaced says by what, and not what its name resembles', async (t) => {
  t.same(yaml(t, 'hub: {mqtt: {url: "mqtt://broker.lan"}}'), [
    'config.yaml:1 hub.mqtt is gone; its keys are those of hub.brokers.NAME now',
  ]);
});

t.test('[9.options-win] command-line options override files, and are named as the origin', async (t) => {
  const overrides = new Map<string, { value: unknown; option: string }>([
    ['server.port', { value: 1234, option: '--port' }],
    ['server.host', { value: '127.0.0.1', option: '--host' }],
  ]);
  const { config, origins } = load(
    t,
    { 'config.yaml': '\nserver: {port: 80}\nlog: {level: debug}' },
    { overrides },
  );
  t.equal(config.server.port, 1234);
  t.equal(config.server.host, '127.0.0.1');
  t.equal(origins.get('server.port'), 'option --port');
  t.equal(origins.get('server.host'), 'option --host');
  t.match(origins.get('log.level'), /\/config\.yaml:3$/);
  t.equal(origins.get('power.backend'), 'default');
  t.throws(
    () => load(t, {}, { overrides: new Map([['server.prot', { value: 1, option: '--prot' }]]) }),
    /not a key/,
  );
});

t.test('texts from a file are shown shortened and without control characters', async (t) => {
  const [problem] = problemsOf(t, {
    'config.json': JSON.stringify({ log: { level: `\u001b[31m\u0085${'x'.repeat(100)}` } }),
  });
  t.match(problem?.message, `, found "\\u001b[31m\\u0085${'x'.repeat(54)}…"`);
  const [key] = problemsOf(t, {
    'config.json': JSON.stringify({ auth: { [`\u001b${'y'.repeat(100)}`]: 1 } }),
  });
  t.equal(key?.key, `auth.?${'y'.repeat(59)}…`);
});
