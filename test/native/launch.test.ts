/** Launched programs get the limits that the service was started with. */
import t from 'tap';
import { launchIn } from '../helpers/native/launch-in.ts';

t.test('[7.launch] the limits are not those that Node has raised for itself', async (t) => {
  const before = 'ulimit -Sn 300; ulimit -Hn 4096; umask 027';
  const { report, problems } = await launchIn(t, { trouble: 'none', before });
  t.strictSame(problems, []);
  t.equal(report, '1024 4096 0027', 'soft, hard, umask');
  const low = await launchIn(t, { trouble: 'none', before: 'ulimit -Sn 300; ulimit -Hn 600' });
  t.match(low.report, /^600 600 /, 'a soft limit is never above the hard one');
});

t.test('[7.launch] without a free descriptor a program starts and is reaped', async (t) => {
  const before = 'ulimit -Sn 300; ulimit -Hn 300';
  const { report, problems } = await launchIn(t, { trouble: 'no-descriptors', before });
  t.strictSame(problems, []);
  t.match(report, /^300 300 /);
});
