/** The addon's own objects in C++ programs (test/native/*.cc), for checks that JavaScript cannot make. */
import t from 'tap';
import { makeMachine } from '../../helpers/machine/tree.ts';
import { runProgram, whyNoProgram } from '../../helpers/native/program.ts';

t.test(
  '[6.keys] the keys that a keyboard announces and presses, and what players report',
  { skip: whyNoProgram('media_test') },
  async (t) => t.equal((await runProgram('media_test')).text, 'all well\n'),
);

t.test(
  '[3.signal] answers of nl80211, and those of this kernel',
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
  'reports of Windows are understood, on this machine',
  { skip: whyNoProgram('windows_parsers_test') },
  async (t) => {
    const { isSuccess, text } = await runProgram('windows_parsers_test');
    t.ok(isSuccess, 'no check failed', { output: text });
    t.match(text, /^all well: 4\d checks$/m, 'all of them ran');
  },
);

t.test(
  "[3.drives] drives' reports about themselves, and which of it is shown",
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

t.test(
  'how often readers ask at most: what waits for a server is asked for each reading',
  { skip: whyNoProgram('least_ages_test') },
  async (t) => {
    const mounts = [
      '30 1 8:2 / / rw - ext4 /dev/sda2 rw',
      '31 30 0:60 / /net rw - nfs4 server:/home rw',
      '32 30 0:61 / /ssh rw - fuse.sshfs me@host:/ rw',
      '33 30 8:3 / /ntfs rw - fuseblk /dev/sda3 rw',
    ];
    const { root } = makeMachine(t, {
      'proc/self/mountinfo': `${mounts.join('\n')}\n`,
      'proc/stat': 'cpu 1 2 3 4 5 6 7 8\n',
      'sys/class/hwmon/hwmon0/name': 'chip\n',
      'sys/class/hwmon/hwmon0/temp1_input': '40000\n',
    });
    const { text } = await runProgram('least_ages_test', 'plain', [root, String(mounts.length)]);
    t.strictSame(text.split('\n'), [
      'cpu: 0 1000 2000 2000', // energy, temperature, speeds
      'no sensor: not asked again',
      'disks: 0 0 0 5000 5000', // the mount table, /net, /ssh, the local ones
      'sensors: 1000 5000', // the chip, the search for chips
      '',
    ]);
  },
);

t.test(
  'the promises of the stream writer, by both methods of sending',
  { skip: whyNoProgram('streams_test') },
  async (t) => {
    const { isSuccess, text } = await runProgram('streams_test');
    t.ok(isSuccess, 'no check failed', { output: text });
    t.match(text, /^all well: \d{4} checks$/m, 'all of them ran');
    t.pass('io_uring', { skip: text.includes('no io_uring here') && 'io_uring is not permitted here' });
  },
);

t.test(
  'announcing through an Avahi that behaves well, badly and not at all',
  { skip: whyNoProgram('discovery_test') },
  async (t) => {
    const { isSuccess, text, missing } = await runProgram('discovery_test');
    t.ok(isSuccess, 'no check failed', { skip: missing, output: text });
    if (missing === false) t.match(text, /^all well: \d\d checks$/m, 'all of them ran');
  },
);

t.test('the promises of the bus core', { skip: whyNoProgram('bus_test') }, async (t) => {
  const { isSuccess, text, missing } = await runProgram('bus_test', 'plain', ['patient']);
  t.comment(text.trim());
  t.ok(isSuccess, 'no check failed', { skip: missing, output: text });
});
