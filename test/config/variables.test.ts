/** Settings from environment variables. */
import t, { type Test } from 'tap';
import { loadConfig } from '#src/config/load.js';
import { KEY_GROUPS, ROWS } from '#src/config/rows/key-table.js';
import { catchProblems, type Files, makeFolder, optionsFor, shorten, writeFiles } from './loading.ts';

const KEY = '0123456789abcdef0123456789abcdef';

function optionsWith(t: Test, variables: Readonly<Record<string, string>>, files: Files = {}) {
  const folder = makeFolder(t);
  writeFiles(folder, files);
  return optionsFor(folder, { surroundings: { platform: 'linux', cwd: folder, variables } });
}

t.test('[8.variables] every key, by one rule; they win over files and lose to options', async (t) => {
  const options = optionsWith(
    t,
    {
      HOSTWIRE_SERVER_PORT: '8080',
      HOSTWIRE_SERVER_ALLOWED_HOSTS: 'a.example.org, b.example.org',
      HOSTWIRE_SERVER_CORS_ORIGINS: '["https://a.example"]',
      HOSTWIRE_AUTH_API_KEY: KEY,
      HOSTWIRE_AUTH_ENABLED: 'true',
      HOSTWIRE_AUTH_BLOCKED_IPS: '',
      HOSTWIRE_STATS_STREAM_INTERVAL_SECONDS: '2.5',
      HOSTWIRE_LOG_LEVEL: 'warn',
      HOSTWIRE_FEATURES_ENABLE_PROCESS_CONTROL: 'true',
      HOSTWIRE_PROCESSES_LAUNCH: '{"x": {"command": "/bin/sh"}}',
      PATH: '/bin',
    },
    { 'config.json': '{"server": {"port": 1}, "auth": {"blocked_ips": ["10.0.0.1"]}}' },
  );
  const { config, origins, notices } = loadConfig({
    ...options,
    overrides: new Map([['log.level', { value: 'debug', option: '--log-level' }]]),
  });
  t.strictSame(notices, []);
  t.equal(config.server.port, 8080);
  t.strictSame(config.server.allowed_hosts, ['a.example.org', 'b.example.org']);
  t.strictSame(config.server.cors_origins, ['https://a.example']);
  t.equal(config.auth.api_key, KEY);
  t.equal(config.auth.enabled, true);
  t.strictSame(config.auth.blocked_ips.entries, []);
  t.equal(config.stats.stream_interval_seconds, 2.5);
  t.equal(config.log.level, 'debug');
  t.equal(config.processes.launch['x']?.command, '/bin/sh');
  t.equal(origins.get('server.port'), 'variable HOSTWIRE_SERVER_PORT');
  t.equal(origins.get('log.level'), 'option --log-level');
});

t.test('[8.variables] the rule gives each key a name of its own, which is known', async (t) => {
  const nameOf = (key: string) => `HOSTWIRE_${key.toUpperCase().replaceAll('.', '_')}`;
  const names = [...ROWS.keys()].map(nameOf);
  t.ok(names.length > 40, `${names.length} keys`);
  t.equal(new Set(names).size, names.length, 'no two keys share one');
  for (const [key, { type }] of ROWS) {
    // A text that no type but a list takes: refused by its own key, and not as one that sets no key.
    const options = optionsWith(t, { [nameOf(key)]: '\u0001' });
    const found = (() => {
      try {
        return loadConfig(options).origins.get(key);
      } catch (error) {
        return String(error);
      }
    })();
    t.match(found, new RegExp(`variable ${nameOf(key)}`), `${key}, ${type}`);
    t.notMatch(found, /sets no key/);
  }
});

t.test('[8.variables] a text stays a text', async (t) => {
  for (const text of ['12345678901234567890123456789012', 'true', 'null'])
    t.equal(loadConfig(optionsWith(t, { HOSTWIRE_AUTH_API_KEY: text })).config.auth.api_key, text);
});

t.test('[8.variables] the key and the file of the key replace each other', async (t) => {
  const files = { 'config.json': '{"auth": {"api_key_file": "gone"}}', 'key.txt': KEY };
  t.equal(loadConfig(optionsWith(t, { HOSTWIRE_AUTH_API_KEY: KEY }, files)).config.auth.api_key, KEY);
  const other = { 'config.json': `{"auth": {"api_key": "x${KEY}"}}`, 'key.txt': KEY };
  const options = optionsWith(t, {}, other);
  const { cwd } = options.surroundings;
  const variables = { HOSTWIRE_AUTH_API_KEY_FILE: `${cwd}/key.txt` };
  t.equal(
    loadConfig({ ...options, surroundings: { ...options.surroundings, variables } }).config.auth.api_key,
    KEY,
  );
});

t.test('[8.variables] the key and its file as two variables are refused, as in a file', async (t) => {
  for (const names of [
    ['HOSTWIRE_AUTH_API_KEY', 'HOSTWIRE_AUTH_API_KEY_FILE'],
    ['HOSTWIRE_AUTH_API_KEY_FILE', 'HOSTWIRE_AUTH_API_KEY'],
  ]) {
    const options = optionsWith(t, {}, { 'key.txt': KEY });
    const setTo = (name: string) => (name.endsWith('_FILE') ? `${options.surroundings.cwd}/key.txt` : KEY);
    const variables = Object.fromEntries(names.map((name) => [name, setTo(name)]));
    const problems = catchProblems(() =>
      loadConfig({ ...options, surroundings: { ...options.surroundings, variables } }),
    );
    t.match(problems.map(shorten), [/cannot be set together with auth\.api_key, which is set at variable/]);
  }
});

t.test('[8.variables] a bad value names its variable, and never shows a secret', async (t) => {
  const problems = catchProblems(() =>
    loadConfig(
      optionsWith(t, {
        HOSTWIRE_SERVER_PORT: '70000',
        HOSTWIRE_AUTH_ENABLED: 'maybe',
        HOSTWIRE_AUTH_API_KEY: `${KEY}\u0001`,
        HOSTWIRE_AUTH_BLOCKED_IPS: '10.0.0.1,10.0.0.300',
        HOSTWIRE_AUTH_APIKEY: KEY,
      }),
    ),
  );
  t.notMatch(JSON.stringify(problems), new RegExp(KEY));
  t.match(problems.map(shorten).sort(), [
    /^variable HOSTWIRE_AUTH_APIKEY:- - sets no key of the configuration/,
    /^variable HOSTWIRE_AUTH_API_KEY:- auth\.api_key expected .* \(not shown\)/,
    /^variable HOSTWIRE_AUTH_BLOCKED_IPS:- auth\.blocked_ips\[1\]/,
    /^variable HOSTWIRE_AUTH_ENABLED:- auth\.enabled expected true or false, found "maybe"/,
    /^variable HOSTWIRE_SERVER_PORT:- server\.port expected a whole number from 0 to 65535, found 70000/,
  ]);
});

t.test(
  '[8.variables] a variable that sets no key is reported, as an unknown key if it names a section',
  async (t) => {
    const { unknownKeys, notices } = loadConfig(
      optionsWith(t, { HOSTWIRE_SERVER_COLOUR: 'red', HOSTWIRE_TEST_ENGINE: 'node', OTHER: '1' }),
    );
    t.match(unknownKeys, [{ file: 'variable HOSTWIRE_SERVER_COLOUR' }]);
    t.equal(unknownKeys.length, 1);
    t.match(notices, [
      { level: 'warn', text: /HOSTWIRE_SERVER_COLOUR/ },
      { level: 'info', text: /HOSTWIRE_TEST_ENGINE/ },
    ]);
    t.equal(notices.length, 2);
  },
);

t.test('[8.variables] variables of another program are ignored', async (t) => {
  // Kubernetes, for services that are called hostwire and hostwire-hub.
  const { config, notices } = loadConfig(
    optionsWith(t, {
      HOSTWIRE_PORT: 'tcp://10.0.0.1:9990',
      HOSTWIRE_PORT_9990_TCP: 'tcp://10.0.0.1:9990',
      HOSTWIRE_PORT_9990_TCP_ADDR: '10.0.0.1',
      HOSTWIRE_SERVICE_HOST: '10.0.0.1',
      HOSTWIRE_SERVICE_PORT: '9990',
      HOSTWIRE_HUB_SERVICE_PORT_HTTP: '9980',
      HOSTWIRE_HUB_PORT: 'tcp://10.0.0.2:9980',
      HOSTWIRE_CONFIG: '',
    }),
  );
  t.strictSame(notices, []);
  t.equal(config.server.port, 9990);
});

t.test('[8.placeholder] a value that looks like a variable is refused with a hint', async (t) => {
  // The text of other programs' configuration files.
  for (const name of ['HOSTWIRE_KEY', 'KEY:-nothing', 'KEY:?']) {
    const text = `\${${name}}`;
    const files = { 'config.yaml': `auth:\n  api_key: "${text}"\n` };
    t.match(catchProblems(() => loadConfig(optionsWith(t, {}, files))).map(shorten), [
      /^config\.yaml:2 auth\.api_key looks like a variable, which is not replaced here; set HOSTWIRE_AUTH_API_KEY in the environment/,
    ]);
    const lists = { 'config.json': JSON.stringify({ server: { allowed_hosts: ['a.b', text] } }) };
    t.match(catchProblems(() => loadConfig(optionsWith(t, {}, lists))).map(shorten), [
      /^config\.json:1 server\.allowed_hosts\[1\] looks like a variable, .* set HOSTWIRE_SERVER_ALLOWED_HOSTS in the environment$/,
    ]);
  }
});

t.test('[8.variables] messages name the variable and no line', async (t) => {
  const list = '["10.0.0.0/24", "10.0.0.1/24"]';
  for (const text of [list, '10.0.0.0/24, 10.0.0.1/24']) {
    const { notices } = loadConfig(optionsWith(t, { HOSTWIRE_AUTH_BLOCKED_IPS: text }));
    t.match(notices, [{ level: 'warn', text: /^variable HOSTWIRE_AUTH_BLOCKED_IPS: auth\.blocked_ips: / }]);
  }
  const wrong = { HOSTWIRE_PROCESSES_LAUNCH: '{"a": {"command": "/a", "command": "/b"}}' };
  t.strictSame(catchProblems(() => loadConfig(optionsWith(t, wrong))).map(shorten), [
    'variable HOSTWIRE_PROCESSES_LAUNCH:- processes.launch.a.command set twice; first in line 1',
  ]);
});

t.test('[8.empty-section] a section without a value is empty', async (t) => {
  for (const section of Object.keys(KEY_GROUPS)) {
    const { notices } = loadConfig(optionsWith(t, {}, { 'config.yaml': `${section}:\n  # nothing: yet\n` }));
    t.strictSame(notices, []);
    t.strictSame(loadConfig(optionsWith(t, {}, { 'config.json': `{"${section}": null}` })).notices, []);
  }
  const inner = { 'config.yaml': 'server:\n  port: 80\n  tls:\n    # cert: /x\n' };
  t.equal(loadConfig(optionsWith(t, {}, inner)).config.server.port, 80);
});
