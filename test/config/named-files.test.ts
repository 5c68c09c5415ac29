/** The files with secrets that keys name: one set of rules for every key. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { checkConfiguration } from '#src/cli/check.js';
import { type Config, readKey } from '#src/config/config.js';
import { loadConfig } from '#src/config/load.js';
import { ROWS } from '#src/config/rows/key-table.js';
import { isSecretFile, type Row } from '#src/config/rows/row.js';
import { makeFolder, namedProblemsIn, namedProblemsOf, optionsFor, writeFiles } from './loading.ts';

const KEY = 'correct-horse-battery-staple-0123456789';
const EXPECTED = 'expected 1 to 1024 printable ASCII characters without a space at either end';
const SHORT = 'has fewer than 32 characters; "hostwire keygen" makes a key';

/** A key, a configuration in which it names FILE, and what the file holds. */
const NAMED: readonly (readonly [
  key: string,
  text: string,
  holds: 'key' | 'long key' | 'password',
  role: 'service' | 'hub',
])[] = [
  ['auth.api_key_file', 'auth: {enabled: true, api_key_file: FILE}', 'key', 'service'],
  [
    'mqtt.password_file',
    'mqtt: {url: mqtt://localhost, username: a, password_file: FILE}',
    'password',
    'service',
  ],
  [
    'hub.brokers.pc.password_file',
    'hub: {brokers: {pc: {url: mqtts://a, username: a, password_file: FILE}}}',
    'password',
    'hub',
  ],
  ['hub.key_file', 'hub: {url: "wss://hub.lan:9980/prefix", key_file: FILE}', 'long key', 'service'],
  [
    'auth.keys.pc.key_file',
    'auth: {enabled: true, keys: {pc: {key_file: FILE, scopes: [read]}}}',
    'long key',
    'service',
  ],
  ['hub.agents.pc.key_file', 'hub: {agents: {pc: {url: http://pc.lan, key_file: FILE}}}', 'key', 'hub'],
  [
    'notify.targets.pc.token_file',
    'notify: {targets: {pc: {type: gotify, url: https://push.lan, token_file: FILE}}}',
    'key',
    'service',
  ],
  ['hub.agents.pc.key_file', 'hub: {agents: {pc: {dials_in: true, key_file: FILE}}}', 'long key', 'hub'],
];

const named = (text: string, file: string) => ({ 'config.yaml': text.replace('FILE', file) });

function secretOf(config: Config, key: string): string | undefined {
  const value = readKey(config, key);
  return isSecretFile(value) ? value.secret : config.auth.api_key;
}

t.test('[8.key-file] each key that names a file with a secret is in these tests', async (t) => {
  // Those that messages are signed with have a form of their own (notify.test.ts).
  const isSecret = ({ file = 'certificate', expected }: Row<unknown>) =>
    typeof file === 'function' || (/key|password/.test(file) && file !== 'signing keys')
      ? !expected.includes('PEM')
      : false;
  const keys = [...ROWS].flatMap(([key, row]) => [
    ...(isSecret(row) ? [key] : []),
    ...Object.entries(row.entries?.keys ?? {}).flatMap(([name, inner]) =>
      isSecret(inner) ? [`${key}.pc.${name}`] : [],
    ),
  ]);
  t.strictSame(
    keys.filter((key) => !NAMED.some(([name]) => name === key)),
    [],
  );
});

t.test(
  '[8.key-file] [8.hub-key] [8.hub-dial] [3.mqtt-password-file] a secret is read without a trailing newline, and never shown',
  async (t) => {
    for (const [key, text, holds, role] of NAMED)
      for (const [content, secret] of [
        [`${KEY}\n`, KEY],
        [`${KEY}\r\n`, KEY],
        [KEY, KEY],
        [`\ufeff${KEY}`, KEY],
        holds === 'password'
          ? [' with spaces ', ' with spaces ']
          : [`${'x'.repeat(1024)}\n`, 'x'.repeat(1024)],
      ] as const) {
        const folder = makeFolder(t);
        writeFiles(folder, { ...named(text, 'secrets/key'), 'secrets/key': content });
        const file = path.join(folder, 'secrets/key');
        const options = optionsFor(folder, { role });
        const loaded = loadConfig(options);
        t.equal(secretOf(loaded.config, key), secret, key);
        t.ok(loaded.watch.includes(file), `${key}: a new secret is a reload`);
        t.same(loaded.notices, [], key);
        for (const isJson of [false, true]) {
          const shown = checkConfiguration(options, isJson);
          t.equal(shown.exitCode, 0, key);
          t.match(shown.text, file, `${key}: its path is shown`);
          t.notMatch(shown.text, secret, `${key}: the secret is not`);
        }
      }
  },
);

t.test('[8.key-file] a relative path starts at the folder of the file that names it', async (t) => {
  const folder = makeFolder(t);
  const options = optionsFor(folder, { paths: ['etc/config.yaml'] });
  for (const name of ['../key', path.join(folder, 'key')]) {
    writeFiles(folder, { 'etc/config.yaml': `auth: {api_key_file: ${name}}`, key: KEY });
    const { config, origins } = loadConfig(options);
    t.equal(config.auth.api_key, KEY);
    t.equal(config.auth.api_key_file, path.join(folder, 'key'));
    t.equal(origins.get('auth.api_key'), path.join(folder, 'key'));
  }
});

t.test(
  '[8.key-file-refused] [8.hub-key] [8.hub-dial] [3.mqtt-password-refused] a file that cannot be used stops the start',
  async (t) => {
    const other = `${EXPECTED}, found another text`;
    for (const [key, text, holds] of NAMED) {
      const nothing =
        holds === 'password' ? 'expected a password, found nothing' : `${EXPECTED}, found nothing`;
      const cases: readonly (readonly [string | Uint8Array, string])[] = [
        ['', nothing],
        ['\n', nothing],
        ['x'.repeat(4097), 'is larger than 4 KiB; name another file'],
        [`${KEY}\0`, 'contains a NUL character; save it as UTF-8'],
        [Buffer.from([0xff, 0xfe]), 'is not UTF-8; save it as UTF-8'],
        ...(holds === 'password'
          ? []
          : [`${KEY}\n\n`, `${KEY} \n`, `${KEY}ü`, 'x'.repeat(1025), 'x'.repeat(4096)].map(
              (content) => [content, other] as const,
            )),
        ...(holds === 'long key' ? [['x'.repeat(31), SHORT] as const] : []),
      ];
      for (const [content, message] of cases)
        t.same(namedProblemsOf(t, { ...named(text, 'key'), key: content }), [
          `config.yaml:1 ${key} key: ${message}`,
        ]);
    }
  },
);

t.test(
  '[8.key-file-refused] [8.hub-key] [3.mqtt-password-refused] neither is a missing file, a folder, a pipe or one that is not private',
  async (t) => {
    const uid = process.getuid?.();
    const missing = 'cannot be opened: it does not exist; correct the path, or create the file';
    for (const [key, text] of NAMED) {
      const folder = makeFolder(t);
      const file = path.join(folder, 'hunter2');
      const problems = (name = 'hunter2') => {
        writeFiles(folder, named(text, name));
        return namedProblemsIn(folder, uid).map((problem) => problem.replace(`config.yaml:1 ${key} `, ''));
      };
      t.same(problems(), [`the file it names: ${missing}`], 'the path may be the secret in the wrong place');
      t.same(problems('none.key'), [`none.key: ${missing}`]);
      mkdirSync(file);
      t.same(problems(), ['hunter2: is a folder; name a file in it']);
      rmSync(file, { recursive: true });
      execFileSync('mkfifo', [file]);
      t.same(problems(), ['hunter2: is a pipe or a device; name a regular file']);
      rmSync(file);
      writeFiles(folder, { hunter2: KEY });
      chmodSync(file, 0o640);
      t.same(problems(), [], 'a group may read it');
      chmodSync(file, 0o644);
      // That of auth.api_key_file gets a warning ([8.modes]).
      const readable = ['hunter2: can be read by others; run chmod o-r on it'];
      t.same(problems(), key === 'auth.api_key_file' ? [] : readable);
      chmodSync(file, 0o622);
      t.same(problems(), ['hunter2: can be written by others; run chmod go-w on it']);
    }
  },
);
