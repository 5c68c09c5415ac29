/** Only root and the service's user may write what the service obeys: files, their folders, launched commands. */
import { chmodSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import { loadConfig } from '#src/config/load.js';
import { whyNotTrusted } from '#src/config/sources/owners.js';
import { catchProblems, type Files, makeFolder, optionsFor, writeFiles } from './loading.ts';

const OWN = process.geteuid?.() ?? 0;
/** Some other user: to a service of this one, the files of these tests are a stranger's. */
const OTHER = 65_123;
const KEY = 'correct-horse-battery-staple-0123456789';

/** The problems of `files` for a service of the user `uid`, after `change` was made to their folder. */
function problems(t: Test, files: Files, change: (folder: string) => void = () => undefined, uid = OWN) {
  const folder = makeFolder(t);
  writeFiles(folder, files);
  change(folder);
  const surroundings = { platform: 'linux', cwd: folder, variables: {}, uid };
  return catchProblems(() => loadConfig(optionsFor(folder, { surroundings }))).map(
    ({ file, line, key, message }) =>
      [file.replace(folder, ''), line, key, message.replace(folder, '')]
        .filter((part) => part !== undefined)
        .join(': '),
  );
}

t.test("[8.owners] a stranger's file is refused, and nothing in it is looked at", async (t) => {
  const files = { 'config.yaml': 'server: {port: 1}\nnonsense' };
  t.match(problems(t, files), [/^\/config\.yaml: 2: /], 'its own is read');
  if (OWN === 0) t.comment('run by root: its files are trusted by every user');
  const found = problems(t, files, undefined, OTHER);
  if (OWN === 0) t.match(found, [/^\/config\.yaml: 2: /]);
  else
    t.same(found, [
      `/config.yaml: belongs to user ${OWN}, not to ${OTHER} or root; run chown ${OTHER} on it, or use another`,
    ]);
});

t.test('[8.owners] the users who may write it', async (t) => {
  const rows: readonly (readonly [
    owner: number,
    group: number,
    mode: number,
    uid: number,
    reason: RegExp | undefined,
  ])[] = [
    [0, 0, 0o644, 0, undefined],
    [0, 0, 0o644, 1000, undefined],
    [1000, 1000, 0o600, 1000, undefined],
    [1000, 1000, 0o644, 0, /^belongs to user 1000, not to root; run chown 0 on it/],
    [1001, 1001, 0o644, 1000, /^belongs to user 1001, not to 1000 or root; run chown 1000 on it/],
    [1000, 1000, 0o664, 1000, undefined],
    [1000, 100, 0o664, 1000, /^can be written by others; run chmod go-w on it$/],
    [1000, 100, 0o644, 1000, undefined],
    [0, 0, 0o666, 0, /^can be written by others/],
    [1000, 1000, 0o602, 1000, /^can be written by others/],
  ];
  for (const [uid, gid, mode, service, reason] of rows) {
    const found = whyNotTrusted('/nonexistent', { uid, gid, mode }, service);
    const name = `${uid}:${gid} ${mode.toString(8)} for ${service}: ${found ?? 'trusted'}`;
    if (reason === undefined) t.equal(found, undefined, name);
    else t.match(found, reason, name);
  }
});

t.test('[8.owners] modes of files, of their folders and of what they link to', async (t) => {
  const files = { 'config.yaml': 'log: {}' };
  const refused = ['/config.yaml: can be written by others; run chmod go-w on it'];
  t.same(
    problems(t, files, (folder) => chmodSync(path.join(folder, 'config.yaml'), 0o602)),
    refused,
  );
  t.same(
    problems(t, files, (folder) => chmodSync(folder, 0o757)),
    ['/config.yaml: its folder can be written by others; run chmod go-w on it'],
  );
  t.same(
    problems(t, files, (folder) => {
      const real = path.join(folder, 'real');
      mkdirSync(real);
      renameSync(path.join(folder, 'config.yaml'), path.join(real, 'config.yaml'));
      symlinkSync('real/config.yaml', path.join(folder, 'config.yaml'));
      chmodSync(real, 0o1777);
    }),
    ['/config.yaml: the folder of the file it links to can be written by others; run chmod go-w on it'],
  );
});

t.test('[8.owners] the key file, and launched commands', async (t) => {
  const keyed = { 'config.yaml': 'auth: {api_key_file: key}', key: KEY };
  t.same(problems(t, keyed), []);
  t.same(
    problems(t, keyed, (folder) => chmodSync(path.join(folder, 'key'), 0o622)),
    ['/config.yaml: 1: auth.api_key_file: /key: can be written by others; run chmod go-w on it'],
  );
  const folder = makeFolder(t);
  writeFiles(folder, { app: '' });
  const app = path.join(folder, 'app');
  const launching = { 'config.yaml': `processes: {launch: {one: {command: ${app}}}}` };
  t.same(problems(t, launching), []);
  chmodSync(app, 0o777);
  t.same(problems(t, launching), [
    '/config.yaml: 1: processes.launch.one: its command: can be written by others; run chmod go-w on it',
  ]);
  const missing = { 'config.yaml': `processes: {launch: {one: {command: ${folder}/none}}}` };
  t.same(problems(t, missing), [], 'a missing one only gets a warning');
});
