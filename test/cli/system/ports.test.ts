/** A port that needs a privilege, asked of the kernel; and one of IPv6. */
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import t from 'tap';
import { checkRecognised } from '../port-row.ts';

t.test('[9.port-cause] by hostwire itself, on all addresses', async (t) => {
  await checkRecognised(t, '::');
});

t.test(
  '[9.port-cause] a port that needs a privilege',
  { skip: process.getuid?.() !== 0 && 'only root can become someone else' },
  async (t) => {
    const script = `
      const { findPortProblem } = await import(${JSON.stringify(import.meta.resolve('#src/cli/ports.js'))});
      process.setgroups([]); process.setgid(65534); process.setuid(65534);
      console.log((await findPortProblem('127.0.0.1', 80))?.reason);`;
    // A network namespace has the kernel's default for the first port that needs none.
    const { stdout, stderr } = spawnSync(
      'unshare',
      [
        '--net',
        'sh',
        '-c',
        'ip link set lo up; exec "$@"',
        'sh',
        process.execPath,
        '--input-type=module',
        '-e',
        script,
      ],
      { encoding: 'utf8' },
    );
    t.equal(stdout, 'this user is not allowed to listen on port 80\n', stderr);
  },
);
