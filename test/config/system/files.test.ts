/** Files that another user may not read. */
import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { makeFolder, writeFiles } from '../loading.ts';

t.test(
  '[8.unreadable] a file that may not be read stops the start',
  { skip: process.getuid?.() !== 0 && 'only root can become someone else' },
  async (t) => {
    const folder = makeFolder(t);
    writeFiles(folder, { 'config.json': '{}', 'closed/config.json': '{}' });
    for (const each of [path.dirname(folder), folder]) chmodSync(each, 0o755);
    chmodSync(path.join(folder, 'closed'), 0o700);
    const script = `
    const { loadConfig } = await import(${JSON.stringify(import.meta.resolve('#src/config/load.js'))});
    process.setgroups([]); process.setgid(65534); process.setuid(65534);
    for (const cwd of ${JSON.stringify([folder, path.join(folder, 'closed')])}) {
      try { loadConfig({ paths: [], overrides: new Map(), surroundings: { platform: 'linux', cwd, variables: {} } }); console.log('loaded'); }
      catch (error) { console.log(error.problems.map(({ message }) => message).join()); }
    }`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    t.same(
      stdout.split('\n').slice(0, 2),
      [
        'cannot be opened: permission denied; let the user of the service read it, and enter the folders that it is in',
        Array(3)
          .fill('cannot be accessed: permission denied; let the user of the service enter its folder')
          .join(),
      ],
      stderr,
    );
  },
);
