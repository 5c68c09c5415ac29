/** The C++ programs of the tests with their upper bounds in milliseconds, which need a machine without other load. */
import t from 'tap';
import { runProgram, whyNoProgram } from '../helpers/native/program.ts';

for (const name of ['bus_test', 'prober_test'])
  t.test(`${name} within its times`, { skip: whyNoProgram(name), timeout: 300_000 }, async (t) => {
    const { isSuccess, text, missing } = await runProgram(name);
    t.comment(`figure: ${name}: ${text.trim().replaceAll('\n', ', ')}`);
    t.ok(isSuccess, 'no check failed', { skip: missing, output: text });
  });
