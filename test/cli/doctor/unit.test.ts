/** Doctor's row on the units of systemd. */
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { judgeUnit, readUnitFacts } from '#src/cli/doctor/unit.js';
import { emptyFolder } from '../../helpers/scope.ts';

t.test('the links that systemd keeps show which units run', async (t) => {
  const root = emptyFolder(t, 'units');
  const mine = path.join(root, 'run/user/1000');
  const mark = (folder: string) => {
    mkdirSync(path.join(folder, 'systemd/units'), { recursive: true });
    symlinkSync('0123456789abcdef', path.join(folder, 'systemd/units/invocation:hostwire.service'));
  };
  t.strictSame(readUnitFacts(mine, root), { hasSystemd: false, systemRuns: false, userRuns: false });
  mkdirSync(path.join(root, 'run/systemd/system'), { recursive: true });
  mark(mine);
  t.strictSame(readUnitFacts(mine, root), { hasSystemd: true, systemRuns: false, userRuns: true });
  mark(path.join(root, 'run'));
  t.strictSame(readUnitFacts(mine, root), { hasSystemd: true, systemRuns: true, userRuns: true });
  t.strictSame(readUnitFacts(undefined, root), { hasSystemd: true, systemRuns: true, userRuns: false });
});

t.test('the row says what the unit cannot do', async (t) => {
  const say = (systemRuns: boolean, userRuns: boolean, hasSystemd = true) =>
    judgeUnit({ hasSystemd, systemRuns, userRuns });
  t.match(say(true, false), {
    status: 'partly',
    source: /^system: stats, and power/,
    reason: /no media players/,
    remedy: /user unit/,
  });
  t.match(say(false, true), { status: 'works', source: /^user:/ });
  t.match(say(true, true), { status: 'partly', reason: /its own port/, remedy: /disable --now/ });
  t.match(say(false, false), { status: 'works', source: /not running/ });
  t.match(say(false, false, false), { status: 'works', source: /not booted with systemd/ });
});
