/** The contents of a configuration: types, limits, unknown keys, defaults, origins. */
import t from 'tap';
import { NO_ADDRESSES } from '#src/access/addresses.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import type { Loaded } from '#src/config/load.js';
import { loadConfig } from '#src/config/load.js';
import {
  asWritten,
  json,
  load,
  makeFolder,
  optionsFor,
  problemsOf,
  shortProblemsOf,
  yaml,
} from './loading.ts';

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

t.test('[8.defaults] the documented defaults', async (t) => {
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

t.test('[8.spellings] JSON and YAML have the same keys', async (t) => {
  const text = `{
  "stats": {"stream_interval_seconds": 5.5},
  "auth": {"enabled": true, "api_key": "0123456789abcdef0123456789abcdef", "allowed_ips": ["*", "10.0.0.0/8"],
           "blocked_ips": ["10.0.0.9"], "refuse_forwarded": false, "guests": ["read"],
           "keys": {"tv": {"digest": "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "scopes": ["read"]}}},
  "features": {"enable_sleep": false, "enable_hibernate": true, "enable_restart": true, "enable_shutdown": true,
               "enable_media": false, "enable_processes": false, "enable_process_control": true, "enable_dashboard": false,
               "enable_wake": true, "enable_metrics": false},
  "server": {"host": "127.0.0.1", "port": 0, "engine": "node", "max_streams": 7, "max_streams_per_address": 8,
             "max_connections_per_address": 11,
             "max_requests_per_address": 9, "max_kept_megabytes": 10, "allowed_hosts": ["pc.example.org"],
             "cors_origins": ["https://a.example:8443"], "trusted_proxies": ["127.0.0.1"]},
  "discovery": {"mdns": true},
  "power": {"backend": "record"},
  "processes": {"launch": {"x": {"command": "/bin/sh"}}},
  "wake": {"hosts": {"nas": {"mac": "02:00:5e:10:00:00", "broadcast": "192.0.2.255", "port": 7}}},
  "history": {"minutes": 5, "idle_interval_seconds": 0, "on_battery": true, "path": "/var/lib/history", "max_megabytes": 8},
  "mqtt": {"url": "mqtt://broker.lan", "username": "pc", "client_id": "pc-1", "topic": "home/pc", "discovery_prefix": "",
           "interval_seconds": 30, "publish": "both"},
  "host": {"root": "/host", "name": "nas", "id": "nas-1", "proc": "/host/proc", "sys": "/host/sys",
           "labels": {"site": "berlin"}},
  "hub": {"mqtt": {"topic": "fleet"}},
  "log": {"level": "debug", "format": "json", "file": "/var/log/hostwire.log"}
}`;
  const wanted = JSON.parse(text);
  // Flow style is JSON's: the same text is YAML too.
  for (const name of ['config.json', 'config.yaml', 'config.yml']) {
    const { config, notices } = load(t, { [name]: text });
    // For the two roles of the program, and of a hub without its broker.
    t.match(
      notices,
      [
        { text: /^hub\.mqtt: used by "hostwire hub" only/ },
        { text: /hub\.mqtt\.topic: hub\.mqtt\.url is not set/ },
      ],
      name,
    );
    t.equal(notices.length, 2, name);
    t.equal(config.auth.api_key_file, undefined);
    t.same(asWritten(config), {
      ...wanted,
      // TLS has files (tls.test.ts).
      server: { ...wanted.server, tls: {} },
      // Named entries have tests of their own (hub.test.ts, watch-rows.test.ts).
      hub: { agents: {}, commands: {}, mqtt: { topic: 'fleet' } },
      watch: { defaults: true, rules: {} },
      processes: { launch: { x: { command: '/bin/sh', args: [], env: {}, allow_args: false } } },
    });
  }
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

t.test(
  '[8.wrong-type] a wrong type or a bad value stops the start with file, line, key and what was expected',
  async (t) => {
    const seconds = 'a number of seconds from 1 to 86400';
    const port = 'a whole number from 0 to 65535';
    const count = 'a whole number from 0 to 1000000';
    const allowed = 'a list of addresses, CIDR ranges or "*", in quotes';
    const cases: readonly (readonly [key: string, value: string, expected: string, found?: string])[] = [
      ['stats.stream_interval_seconds', '"2"', seconds],
      ['stats.stream_interval_seconds', '86400.5', seconds],
      ['stats.stream_interval_seconds', '.nan', seconds, 'NaN'],
      ['stats.stream_interval_seconds', '.inf', seconds, 'Infinity'],
      ['stats.stream_interval_seconds', '-.inf', seconds, '-Infinity'],
      ['stats.stream_interval_seconds', '[2]', seconds, 'a list'],
      ['auth.enabled', 'yes', 'true or false', '"yes"'],
      ['auth.enabled', '1', 'true or false'],
      ['auth.enabled', '{a: 1}', 'true or false', 'a map'],
      ['auth.allowed_ips', '"*"', allowed],
      ['auth.allowed_ips', '{a: 1}', allowed, 'a map'],
      ['auth.blocked_ips[0]', '[10.5]', 'a string, in quotes', '10.5'],
      ['auth.api_key_file', '""', 'the path of a file that holds the key', 'a string (not shown)'],
      ['server.port', '65536', port],
      ['server.port', '-1', port],
      ['server.port', '80.5', port],
      ['server.port', '"80"', port],
      ['server.port', 'true', port],
      ['server.max_streams', '-1', count],
      ['server.max_streams', '1000001', count],
      ['server.max_streams', '1.5', count],
      ['power.backend', 'System', '"system" or "record"', '"System"'],
      ['host.proc', 'proc', 'an absolute path', '"proc"'],
      ['host.sys', '"/sys\\0x"', 'an absolute path', '"/sys\\u0000x"'],
      ['log.level', 'trace', '"error", "warn", "info" or "debug"', '"trace"'],
      ['processes.launch', '[]', 'a map of app names to {command, args, cwd, env, allow_args}', 'a list'],
      ['auth', 'true', 'a map of keys such as enabled', 'true or false'],
      ['log', '[]', 'a map of keys such as level', 'a list'],
    ];
    for (const [key, value, expected, found = value] of cases) {
      const [section, name] = key.replace('[0]', '').split('.');
      const text = name === undefined ? `${section}: ${value}` : `${section}: {${name}: ${value}}`;
      t.same(
        yaml(t, `# one\n${text}\n`),
        [`config.yaml:2 ${key} expected ${expected}, found ${found}`],
        text,
      );
    }
    t.same(json(t, '{\n "stats": {\n  "stream_interval_seconds":\n   1e999\n }\n}'), [
      'config.json:3 stats.stream_interval_seconds expected a number of seconds from 1 to 86400, found "1e999"',
    ]);
  },
);

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

t.test('[8.limits] the extreme values that are accepted', async (t) => {
  for (const [section, key, value] of [
    ['stats', 'stream_interval_seconds', 86_400],
    ['stats', 'stream_interval_seconds', 1],
    ['server', 'port', 0],
    ['server', 'port', 65_535],
    ['server', 'max_streams', 0],
    ['server', 'max_streams', 1_000_000],
    ['log', 'level', 'error'],
    ['log', 'level', 'warn'],
    ['power', 'backend', 'record'],
  ] as const) {
    const text = `${section}: {${key}: ${value}}`;
    const loaded = load(t, { 'config.yaml': text });
    t.same(loaded.notices, [], text);
    const sections: unknown = loaded.config;
    t.has(sections, { [section]: { [key]: value } }, text);
  }
});

t.test('[8.listen-host] an address or a name to listen on', async (t) => {
  for (const host of ['::', '::1', '0.0.0.0', '127.0.0.1', 'localhost', 'my-pc.lan', 'fe80::1%eth0', 'a'])
    t.equal(load(t, { 'config.json': JSON.stringify({ server: { host } }) }).config.server.host, host);
  for (const host of [
    '',
    '[::1]',
    '1.2.3',
    '1.2.3.4:80',
    'a:80',
    '300.1.1.1',
    'http://x',
    'a b',
    '-a',
    ':::',
    `${'a'.repeat(300)}`,
  ])
    t.match(
      problemsOf(t, { 'config.json': JSON.stringify({ server: { host } }) }),
      [{ key: 'server.host', line: 1 }],
      host,
    );
});

t.test('[8.interval-below-one] below 1 counts as 1, with one warning', async (t) => {
  for (const value of [0.999, 0, -5]) {
    const loaded = load(t, {
      'config.json': `{\n"stats": {"stream_interval_seconds": ${value}}}`,
      'config.yaml': `stats: {stream_interval_seconds: ${value}}`,
    });
    t.equal(loaded.config.stats.stream_interval_seconds, 1);
    t.same(warningsOf(loaded), [
      `warn config.json:2: stats.stream_interval_seconds: ${value} is below the minimum; using 1`,
    ]);
  }
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

t.test(
  '[8.addresses] address lists are checked entry by entry; the wildcard is accepted in the allow list only',
  async (t) => {
    t.same(
      yaml(
        t,
        'auth:\n  allowed_ips:\n    - "*"\n    - 10.0.0.0/8\n    - 10.0.0.x\n  blocked_ips:\n  - 1.1.1.1\n  - "*"\nserver:\n  trusted_proxies: ["*"]\n',
      ),
      [
        'config.yaml:5 auth.allowed_ips[2] not an address; expected four decimal parts without leading zeros, or IPv6, found "10.0.0.x"',
        'config.yaml:8 auth.blocked_ips[1] "*" is for the allow list only; list addresses and ranges here',
        'config.yaml:10 server.trusted_proxies[0] "*" is for the allow list only; list addresses and ranges here',
      ],
    );
    const loaded = load(t, { 'config.yaml': 'a: 1\nauth: {enabled: true, allowed_ips: [0.0.0.0/0]}\n' });
    t.same(warningsOf(loaded).slice(1, 2), [
      'warn config.yaml:2: auth.allowed_ips: 0.0.0.0/0 in the allow list admits every IPv4 client without the key; "*" admits every client that has it',
    ]);
    t.same(loaded.config.auth.allowed_ips.entries, ['0.0.0.0/0']);
    t.match(problemsOf(t, { 'config.json': '{"auth": {"allowed_ips": [null, "x"]}}' }), [
      { key: 'auth.allowed_ips[0]', value: undefined },
    ]);
  },
);

t.test('[8.cors-origins] an origin is scheme, host and port, written as browsers send it', async (t) => {
  const good = [
    'https://example.org',
    'http://example.org:8080',
    'http://[::1]:9990',
    'chrome-extension://abcdefgh',
    'http://10.0.0.1',
  ];
  t.same(
    load(t, { 'config.json': JSON.stringify({ server: { cors_origins: good } }) }).config.server.cors_origins,
    good,
  );
  const hints: Readonly<Record<string, string>> = {
    'https://example.org/': '; did you mean https://example.org',
    'https://Example.org': '; did you mean https://example.org',
    'https://example.org:443': '; did you mean https://example.org',
    'https://example.org/path?x': '; did you mean https://example.org',
    'https://example.org#x': '; did you mean https://example.org',
    'moz-extension://abc/x': '; did you mean moz-extension://abc',
    '*': '',
    null: '',
    'example.org': '',
    'file:///etc': '',
    'file://host': '',
    'mailto:x': '',
    '': '',
  };
  for (const [origin, hint] of Object.entries(hints))
    t.same(
      json(t, JSON.stringify({ server: { cors_origins: ['http://a', origin] } })),
      [
        `config.json:1 server.cors_origins[1] expected an origin, scheme://host or scheme://host:port, and nothing after it${hint}, found ${JSON.stringify(origin)}`,
      ],
      origin,
    );
  for (const origin of [
    'https://me:hunter2@example.org',
    'https://me@example.org',
    'https://:hunter2@example.org',
  ]) {
    const problems = problemsOf(t, { 'config.json': JSON.stringify({ server: { cors_origins: [origin] } }) });
    t.match(problems, [{ value: undefined, key: 'server.cors_origins[0]' }]);
    t.notMatch(JSON.stringify(problems), 'hunter2');
  }
});

t.test('[8.allowed-hosts] host names without scheme, port or path', async (t) => {
  const good = ['pc', 'pc.example.org', 'pc.example.org.', 'my_pc.lan', 'xn--bcher-kva.example', '1pc'];
  t.same(
    load(t, { 'config.json': JSON.stringify({ server: { allowed_hosts: good } }) }).config.server
      .allowed_hosts,
    good,
  );
  for (const host of ['pc:9990', 'http://pc', 'pc/x', '*.pc', '', '.pc', 'a b', '*', 'a'.repeat(255)])
    t.match(
      problemsOf(t, { 'config.json': JSON.stringify({ server: { allowed_hosts: [host] } }) }),
      [
        {
          key: 'server.allowed_hosts[0]',
          message: /^expected a host name without scheme, port or path, found /,
        },
      ],
      host,
    );
});

t.test('[8.unknown-in-auth] an unknown key under auth stops the start and names the nearest', async (t) => {
  for (const [key, value, nearest] of [
    ['colour', 'red', 'keys'],
    ['allow_ips', '[]', 'allowed_ips'],
    ['apikey', 'secret', 'api_key'],
    ['block_list_of_ips', '{a: 1}', 'blocked_ips'],
  ])
    t.same(yaml(t, `auth:\n  ${key}: ${value}\n`), [
      `config.yaml:2 auth.${key} unknown key; did you mean auth.${nearest}?`,
    ]);
});

t.test('[8.unknown-near] an unknown key within two letters of a known one stops the start', async (t) => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['{"server": {"prot": 1}}', 'server.prot', 'server.port'],
    ['{"server": {"max_stream": 1}}', 'server.max_stream', 'server.max_streams'],
    ['{"server": {"mx_stream": 1}}', 'server.mx_stream', 'server.max_streams'],
    ['{"features": {"enable_slep": true}}', 'features.enable_slep', 'features.enable_sleep'],
    ['{"features": {"enable_sleeeep": true}}', 'features.enable_sleeeep', 'features.enable_sleep'],
    ['{"features": {"enable-sleep": true}}', 'features.enable-sleep', 'features.enable_sleep'],
    ['{"feature": {"x1": true}}', 'feature', 'features'],
    ['{"atuh": {}}', 'atuh', 'auth'],
    ['{"srver": 1}', 'srver', 'server'],
    ['{"loog": 1}', 'loog', 'log'],
    ['{"auth.enabled": true}', 'auth.enabled', 'enabled in the section auth'],
    ['{"authorize": {"api_key": 1}}', 'authorize.api_key', 'api_key in the section auth'],
    ['{"api_key": 1}', 'api_key', 'api_key in the section auth'],
    ['{"wrong": {"deeper": {"api_kez": 1}}}', 'wrong.deeper.api_kez', 'api_key in the section auth'],
    ['{"stats": {"enable_sleep": true}}', 'stats.enable_sleep', 'enable_sleep in the section features'],
    ['{"Auth": {"x1": 1}}', 'Auth', 'auth'],
    ['{"stats": {"Port": 1}}', 'stats.Port', 'port in the section server'],
    ['{"mqtt": {"broker": {"url": 1}}}', 'mqtt.broker.url', 'mqtt.url'],
    ['{"hub": {"broker": {"ulr": 1}}}', 'hub.broker.ulr', 'hub.url'],
    ['{"hub": {"broker": {"topic": 1}}}', 'hub.broker.topic', 'topic in the section mqtt'],
    ['{"mqtt": {"keyfile": 1}}', 'mqtt.keyfile', 'key_file in the section hub'],
  ];
  for (const [text, key, nearest] of cases)
    t.same(json(t, text), [`config.json:1 ${key} unknown key; did you mean ${nearest}?`], text);
});

t.test('[8.unknown-warns] any other unknown key is a warning', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['{"foo": 1}', 'foo'],
    ['{"server": {\n"colour": "secret-value"}}', 'server.colour'],
    ['{"features": {"enable_sleeeeep": true}}', 'features.enable_sleeeeep'],
    ['{"theme": {"dark": {"x": 1}}}', 'theme'],
    ['{"toString": 1}', 'toString'],
    ['{"server": {"constructor": 1}}', 'server.constructor'],
    ['{"lid": 1}', 'lid'],
    ['{"stats": {"_key": 1}}', 'stats._key'],
    ['{"stats": {"pore2": 1}}', 'stats.pore2'],
  ];
  for (const [text, key] of cases) {
    const loaded = load(t, { 'config.json': text });
    t.strictSame(loaded.config, DEFAULT_CONFIG, text);
    const line = text.includes('\n') ? 2 : 1;
    const hint = key.includes('sleeeeep')
      ? 'did you mean features.enable_sleep?'
      : 'docs/configuration.md lists all keys';
    t.same(warningsOf(loaded), [`warn config.json:${line}: ${key}: unknown key, ignored; ${hint}`]);
    t.match(loaded.unknownKeys, [{ key, line, value: undefined }]);
  }
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
  t.equal(problem?.value, `"\\u001b[31m\\u0085${'x'.repeat(54)}…"`);
  const [key] = problemsOf(t, {
    'config.json': JSON.stringify({ auth: { [`\u001b${'y'.repeat(100)}`]: 1 } }),
  });
  t.equal(key?.key, `auth.?${'y'.repeat(59)}…`);
});
