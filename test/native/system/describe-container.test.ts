/** The row of `hostwire doctor` on ending processes, in a container that sees the processes of its host. */
import '../../helpers/service/dead-buses.ts';
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import t from 'tap';

/** Prints the row on ending processes, in a place where /proc shows other processes than the program's own. */
const IN_A_CONTAINER = `
  const { openNativeHost } = await import('#src/host/native.js');
  const findings = await openNativeHost().describe(new Set(['power', 'media']));
  console.log(JSON.stringify(findings.find(({ subject }) => subject === 'process-control')));
  process.exit(0);
`;
const UNSHARE = ['--user', '--map-root-user', '--pid', '--fork', process.execPath];
const canUnshare = spawnSync('unshare', [...UNSHARE, '--version']).status === 0;

t.test(
  '[9.doctor-processes] in a container with the /proc of its host: the remedy for ending processes',
  { skip: !canUnshare && 'unshare(1) may not make a namespace of processes here' },
  async (t) => {
    const args = [...UNSHARE, '--input-type=module', '--eval', IN_A_CONTAINER];
    const { stdout, stderr } = spawnSync('unshare', args, { cwd: import.meta.dirname, encoding: 'utf8' });
    t.equal(stderr, '');
    t.match(JSON.parse(stdout), {
      status: 'missing',
      source: 'not possible',
      reason: '/proc shows other processes than this service can reach',
      remedy: "give the container the host's processes (--pid host)",
    });
  },
);
