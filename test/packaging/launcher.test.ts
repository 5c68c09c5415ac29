/** The entry of the bundle and of the Debian package: which Node and which program it starts, from where. */
import '../helpers/service/dead-buses.ts';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';

const ROOT = path.resolve(import.meta.dirname, '../../../..');

/** A bundle whose Node prints what it was started with; its path has a space. */
function makeBundle(t: Test): string {
  const folder = path.join(mkdtempSync(path.join(os.tmpdir(), 'hostwire-launcher-')), 'a bundle');
  t.teardown(() => rmSync(path.dirname(folder), { recursive: true, force: true }));
  mkdirSync(folder);
  copyFileSync(path.join(ROOT, 'packaging/bundle/hostwire'), path.join(folder, 'hostwire'));
  writeFileSync(path.join(folder, 'node'), '#!/bin/sh\necho $$\nprintf "%s\\n" "$@"\nexit 3\n');
  for (const file of ['hostwire', 'node']) chmodSync(path.join(folder, file), 0o755);
  return folder;
}

t.test('the launcher starts the Node and the program beside it', async (t) => {
  const folder = makeBundle(t);
  const links = path.join(path.dirname(folder), 'links');
  mkdirSync(links);
  symlinkSync(path.join(folder, 'hostwire'), path.join(links, 'first'));
  symlinkSync('first', path.join(links, 'second'));
  const words = ['--port', '9990', 'two words', '*', ''];
  const cases = [
    { title: 'by its path', command: path.join(folder, 'hostwire'), cwd: '/' },
    { title: 'from its own folder', command: './hostwire', cwd: folder },
    { title: 'from another folder', command: '../a bundle/hostwire', cwd: links },
    { title: 'through a link', command: './first', cwd: links },
    { title: 'through a link to a link on the PATH', command: 'second', cwd: '/' },
  ];
  for (const { title, command, cwd } of cases) {
    const env = { ...process.env, PATH: `${process.env['PATH']}:${links}` };
    const ran = spawnSync(command, words, { cwd, env, encoding: 'utf8' });
    const [pid, ...started] = ran.stdout.split('\n');
    t.strictSame(started, [path.join(folder, 'dist/main.js'), ...words, ''], title);
    t.equal(Number(pid), ran.pid, `${title}: Node takes the place of the shell, so signals reach it`);
    t.equal(ran.status, 3, `${title}: its exit code is the program's`);
  }
});
