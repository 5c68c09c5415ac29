/** The API key: its sources, the warnings about it, and that it is never shown. */
import { chmodSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { loadConfig } from '#src/config/load.js';
import { load, makeFolder, optionsFor, shortProblemsOf, writeFiles } from './loading.ts';

const KEY = '0123456789abcdef0123456789abcdef';

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
