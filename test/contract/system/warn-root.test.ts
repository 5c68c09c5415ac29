/** The warning about running as root, where root starts the program as an ordinary user. */
import '../../helpers/service/dead-buses.ts';
import { spawn } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { until } from '../../helpers/until.ts';

const MAIN = fileURLToPath(new URL('../../../../../dist/main.js', import.meta.url));

t.test(
  '[9.warn-root] not logged for an ordinary user',
  { skip: process.getuid?.() !== 0 && 'only root can start it as another user' },
  async (t) => {
    const nobody = { uid: 65534, gid: 65534 };
    const args = [MAIN, '--host', '127.0.0.1', '--port', '0'];
    const child = spawn(process.execPath, args, { ...nobody, cwd: '/', env: {}, stdio: 'pipe' });
    t.teardown(() => child.kill('SIGKILL'));
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      stderr += part;
    });
    await until(() => /listening on/.test(stderr) || child.exitCode !== null);
    if (/EACCES|cannot find module/i.test(stderr)) {
      t.plan(0, 'this checkout is not readable for other users');
      return;
    }
    t.match(stderr, /listening on/);
    t.notMatch(stderr, /running as root/);
  },
);
