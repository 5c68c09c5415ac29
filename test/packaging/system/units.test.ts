/** packaging/: systemd accepts the units, and the system unit is sandboxed. */
import { spawnSync } from 'node:child_process';
import t from 'tap';
import '../../helpers/service/dead-buses.ts';
import { HUB_UNIT, SYSTEM_UNIT, USER_UNIT } from '../unit-files.ts';

/** Times ten, as systemd-analyze expects it. */
const MOST_EXPOSED = { [SYSTEM_UNIT]: 26, [HUB_UNIT]: 15 };

const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;
const skip = hasAnalyze ? false : 'no systemd-analyze (Debian: systemd)';

t.test('systemd accepts the units without a message', { skip }, async (t) => {
  for (const file of [SYSTEM_UNIT, HUB_UNIT, USER_UNIT]) {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
      encoding: 'utf8',
    });
    // Messages about other units, or a node outside systemd's path, are allowed.
    const ours = `${stdout}${stderr}`.split('\n').filter((line) => line.includes(file));
    t.strictSame(ours, [], `${file} (exit code ${status})`);
  }
});

t.test('the system unit is exposed at 2.6 or less, the hub at 1.5 or less', { skip }, async (t) => {
  for (const [unit, limit] of Object.entries(MOST_EXPOSED)) {
    const judge = (threshold: number) =>
      spawnSync(
        'systemd-analyze',
        ['security', '--offline=true', `--threshold=${threshold}`, '--no-pager', unit],
        { encoding: 'utf8' },
      );
    const { status, stdout, stderr } = judge(limit);
    t.equal(status, 0, `${stdout.trim().split('\n').at(-1)}${stderr}`);
    t.not(judge(1).status, 0, 'the judge can refuse');
  }
});
