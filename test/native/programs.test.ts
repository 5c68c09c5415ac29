/** The addon's own objects in C++ programs (test/native/*.cc), for checks that JavaScript cannot make. */
import t from 'tap';
import { runProgram, whyNoProgram } from '../helpers/native/program.ts';

t.test(
  '[6.keys] the keys that a keyboard announces and presses, and what players report',
  { skip: whyNoProgram('media_test') },
  async (t) => t.equal((await runProgram('media_test')).text, 'all well\n'),
);

t.test(
  '[3.signal] what nl80211 answers, and what this kernel does',
  { skip: whyNoProgram('netlink_test') },
  async (t) => {
    const { isSuccess, text } = await runProgram('netlink_test');
    const lines = text.trim().split('\n');
    t.ok(isSuccess && lines.length > 15, `${lines.length} checks`);
    t.strictSame(
      lines.filter((line) => !line.startsWith('ok: ')),
      [],
    );
  },
);

t.test(
  'what Windows reports is understood, on this machine',
  { skip: whyNoProgram('windows_parsers_test') },
  async (t) => {
    const { isSuccess, text } = await runProgram('windows_parsers_test');
    t.ok(isSuccess, 'no check failed', { output: text });
    t.match(text, /^all well: 3\d checks$/m, 'all of them ran');
  },
);

t.test(
  '[3.drives] what drives report about themselves, and which of it is shown',
  { skip: whyNoProgram('drives_test') },
  async (t) => {
    const { isSuccess, text } = await runProgram('drives_test');
    t.ok(isSuccess, 'no check failed', { output: text });
    t.match(text, /^all well: 6\d checks$/m, 'all of them ran');
  },
);

t.test(
  '[9.doctor-media] [9.doctor-power] [9.doctor-gpu] the rows that platforms share',
  { skip: whyNoProgram('describe_test') },
  async (t) => {
    const { isSuccess, text } = await runProgram('describe_test');
    t.ok(isSuccess, 'no check failed', { output: text });
    t.match(text, /^all well: \d\d checks$/m, 'all of them ran');
  },
);

t.test(
  'errors have a symbol, which is the same everywhere',
  { skip: whyNoProgram('error_test') },
  async (t) => {
    const { isSuccess, text } = await runProgram('error_test');
    t.ok(isSuccess, 'no check failed', { output: text });
  },
);

t.test('the promises of the bus core', { skip: whyNoProgram('bus_test') }, async (t) => {
  const { isSuccess, text, missing } = await runProgram('bus_test', 'plain', ['patient']);
  t.comment(text.trim());
  t.ok(isSuccess, 'no check failed', { skip: missing, output: text });
});
