/** The API key: its sources, the warnings about it, and that it is never shown. */
import { chmodSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { loadConfig } from '#src/config/load.js';
import {
  catchProblems,
  load,
  makeFolder,
  optionsFor,
  problemsOf,
  shortProblemsOf,
  writeFiles,
} from './loading.ts';

const KEY = '0123456789abcdef0123456789abcdef';
const EXPECTED = 'expected 1 to 1024 printable ASCII characters without a space at either end';

t.test('[8.key-value] the values that are accepted as a key', async (t) => {
  for (const key of [KEY, 'x'.repeat(1024), `${KEY} ~!"'`])
    t.equal(load(t, { 'config.json': JSON.stringify({ auth: { api_key: key } }) }).config.auth.api_key, key);
  for (const key of [
    '',
    ' ',
    ` ${KEY}`,
    `${KEY} `,
    `${KEY}\n`,
    `\t${KEY}`,
    `a\u0000${KEY}`,
    `${KEY}é`,
    `a\u007fb`,
    'x'.repeat(1025),
    12345678901,
    true,
    [KEY],
    { a: KEY },
  ]) {
    const problems = problemsOf(t, { 'config.json': JSON.stringify({ auth: { api_key: key } }) });
    t.match(problems, [{ key: 'auth.api_key', line: 1, value: undefined }], typeof key);
    t.equal(problems[0]?.message.startsWith(EXPECTED), true);
    t.notMatch(JSON.stringify(problems), /0123|12345678901/, 'the key is not shown');
  }
});

t.test('[8.key-or-file] api_key and api_key_file exclude each other, also in two files', async (t) => {
  t.match(shortProblemsOf(t, { 'config.yaml': `auth:\n  api_key: ${KEY}\n  api_key_file: key`, key: KEY }), [
    /^config\.yaml:3 auth\.api_key_file cannot be set together with auth\.api_key, which is set at config\.yaml:2; remove one of the two$/,
  ]);
  t.match(
    shortProblemsOf(t, {
      'config.json': `{"auth": {\n"api_key": "${KEY}"}}`,
      'config.yaml': 'auth: {enabled: true, api_key_file: key}',
      key: KEY,
    }),
    [
      /^config\.yaml:1 auth\.api_key_file cannot be set together with auth\.api_key, which is set at config\.json:2; remove one of the two$/,
    ],
  );
});

t.test('[8.key-notices] auth on without a key is one error line; a short key is a warning', async (t) => {
  const notices = (text: string) =>
    load(t, { 'config.yaml': text }).notices.map(({ level, text }) => `${level}: ${text}`);
  const nobody =
    'error: auth.enabled is true and no key is configured, so no client can connect; "hostwire keygen" makes a key';
  t.same(notices('auth: {enabled: true}'), [nobody]);
  t.same(
    notices('auth: {enabled: true, allowed_ips: ["*"]}'),
    [nobody],
    'the wildcard lets no client in without a key',
  );
  t.same(notices('auth: {enabled: true, allowed_ips: ["*", 10.0.0.1]}'), [
    'error: auth.enabled is true and no key is configured, so only the addresses in auth.allowed_ips can connect; "hostwire keygen" makes a key',
  ]);
  t.same(notices('auth: {enabled: false}'), []);
  const short = 'warn: auth.api_key has fewer than 32 characters; "hostwire keygen" makes a strong one';
  const off =
    /^warn: .*config\.yaml:1: auth\.api_key: auth\.enabled is (not set|false), so every client may connect/;
  t.match(notices(`auth: {api_key: ${'a'.repeat(31)}}`), [off, short]);
  t.match(notices(`auth: {enabled: false, api_key: ${KEY}}`), [off]);
  t.match(notices('auth: {allowed_ips: [10.0.0.1]}'), [
    /auth\.allowed_ips: auth\.enabled is not set, so every/,
  ]);
  t.same(notices('auth: {allowed_ips: []}'), []);
  t.same(notices(`auth: {enabled: true, api_key: ${'a'.repeat(31)}}`), [short]);
  t.same(notices(`auth: {enabled: true, api_key: ${'a'.repeat(32)}}`), []);
  const keys = `keys: {phone: {digest: "sha256/${'A'.repeat(43)}=", scopes: [read]}}`;
  t.same(notices(`auth: {enabled: true, ${keys}}`), [], 'any key will do');
});

t.test('[8.modes] a file that others can read while it holds a key gets a warning', async (t) => {
  const notices = (name: string, mode: number, content: string, platform = 'linux') => {
    const folder = makeFolder(t);
    writeFiles(folder, {
      'config.yaml': 'auth: {enabled: true, api_key_file: key}',
      key: KEY,
      ...(name === 'key' ? {} : { 'config.yaml': content, key: '' }),
    });
    chmodSync(path.join(folder, name), mode);
    const surroundings = { platform, cwd: folder, variables: {} };
    return loadConfig(optionsFor(folder, { surroundings })).notices.map(
      ({ level, text }) => `${level}: ${text.replace(folder, '')}`,
    );
  };
  const read = (name: string) => `warn: /${name}: holds the key and others can read it; run chmod o-r on it`;
  const keyed = `auth: {enabled: true, api_key: ${KEY}}`;
  t.same(notices('config.yaml', 0o644, 'log: {}'), []);
  t.same(notices('config.yaml', 0o660, keyed), []);
  t.same(notices('config.yaml', 0o601, keyed), [], 'the execute bit alone does not make it readable');
  t.same(notices('config.yaml', 0o644, keyed), [read('config.yaml')]);
  t.same(notices('config.yaml', 0o666, keyed, 'win32'), [], 'Windows has no such bits');
  t.same(notices('key', 0o640, ''), []);
  t.same(notices('key', 0o604, ''), [read('key')]);
  t.match(
    load(t, { 'config.yaml': keyed, 'config.json': JSON.stringify({ auth: { api_key: KEY } }) }).notices,
    [],
    'mode 600 in both',
  );
});

t.test('[8.secrets] nothing secret is in an error, a notice or an origin', async (t) => {
  const secret = 'hunter2hunter2';
  const texts = [
    `auth: ${secret}`,
    `auth: [${secret}]`,
    `auth: {api_kex: ${secret}}`,
    `auth: {api_key: [${secret}]}`,
    `auth: {api_key: {${secret}: 1}}`,
    `auth: {api_key: "${secret}`,
    `auth: {api_key: ${secret}: x}`,
    `auth: {api_key_file: ${secret}}`,
    `auth: {api_key_file: "${secret}\\0"}`,
    `auth: {api_key: *${secret}}`,
    `auth: {api_key: &${secret}}`,
    `auth: {api_key: !${secret}^}`,
    `auth: {api_key: ${secret}, api_key: ${secret}}`,
    `api_key: ${secret}`,
    `processes: {launch: {x: {command: /x, env: {TOKEN: [${secret}]}}}}`,
    `processes: {launch: {x: {command: /x, env: ${secret}}}}`,
    `%TAG !${secret}! x\n%TAG !${secret}! x\n--- {}`,
    `${secret}`,
    `"${secret}`,
    `{"auth": {"api_key": "${secret}",}}`,
    `{"auth": {"api_key": "${secret}"`,
  ];
  for (const text of texts)
    for (const name of ['config.json', 'config.yaml']) {
      const folder = makeFolder(t);
      writeFiles(folder, { [name]: text });
      try {
        const { notices, origins, unknownKeys } = loadConfig(optionsFor(folder));
        t.notMatch(JSON.stringify([notices, [...origins], unknownKeys]), secret, text);
      } catch (error) {
        t.notMatch(
          `${error} ${JSON.stringify(error)} ${JSON.stringify(
            catchProblems(() => {
              throw error;
            }),
          )}`,
          secret,
          text,
        );
      }
    }
});
