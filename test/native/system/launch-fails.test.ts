/** A launch that was answered is never undone, whichever of its calls fails. */
import t from 'tap';
import { openNativeProcesses } from '#src/host/native.js';
import { launchIn } from '../../helpers/native/launch-in.ts';
import { programPath, whyNoProgram } from '../../helpers/native/program.ts';

const skip = openNativeProcesses().whyNoControl() ?? false;

t.test(
  '[7.launch] whichever call fails: an error and nothing was started, or a program that is reaped',
  { skip: skip || whyNoProgram('fail_nth.so') },
  async (t) => {
    const env = { LD_PRELOAD: programPath('fail_nth.so') };
    const { calls, problems } = await launchIn(t, { trouble: 'failing-calls', env });
    t.comment(calls.join('\n'));
    t.strictSame(problems, []);
    t.ok(
      calls.some((call) => call.startsWith('pthread_create')),
      'a thread that cannot start was among them',
    );
  },
);
