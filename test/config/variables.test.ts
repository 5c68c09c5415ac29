/** Settings from environment variables. */
import t, { type Test } from 'tap';
import { loadConfig } from '#src/config/load.js';
import { ROWS } from '#src/config/rows/key-table.js';
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
