/** Probers, in a C++ program of their own: its ticks of 100 ms want a machine that is not busy with other tests. */
import t from 'tap';
import { runProgram, whyNoProgram } from '../../helpers/native/program.ts';

t.test('the promises of probers', { skip: whyNoProgram('prober_test') }, async (t) => {
  const { isSuccess, text } = await runProgram('prober_test', 'plain', ['patient']);
  t.comment(text.trim());
  t.ok(isSuccess, 'no check failed, and the process ended with threads still stuck', { output: text });
});
