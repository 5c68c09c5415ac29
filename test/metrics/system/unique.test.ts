/** Names of interfaces that are equal once they are text, in messages of the kernel. */
import t from 'tap';
import { runProgram, whyNoProgram } from '../../helpers/native/program.ts';

t.test(
  '[3.metrics-unique] the same of interfaces in messages of the kernel',
  { skip: whyNoProgram('netlink_test') },
  async (t) => {
    const { text } = await runProgram('netlink_test');
    t.match(text, /^ok: interfaces whose names are not UTF-8 have series of their own$/m);
    t.match(text, /^ok: no series is written twice$/m);
  },
);
