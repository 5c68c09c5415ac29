/** The addon's own objects in C++ programs (test/native/*.cc), for checks that JavaScript cannot make. */
import t from 'tap';
import { makeMachine } from '../../helpers/machine/tree.ts';
import { runProgram, whyNoProgram } from '../../helpers/native/program.ts';

const WELL = /^all well(?:: \d+ checks)?$/m;

/** Runs the program `name`, whose checks `what` describes; it prints `printed` where all of them ran. */
const testProgram = (what: string, name: string, printed: RegExp, ...args: readonly string[]) =>
  t.test(what, { skip: whyNoProgram(name) }, async (t) => {
    const { isSuccess, text, missing } = await runProgram(name, 'plain', args);
    t.comment(text.trim());
    t.ok(isSuccess, 'no check failed', { skip: missing, output: text });
    if (missing === false) t.match(text, printed, 'all of them ran');
    const noUring = text.includes('no io_uring here') && 'io_uring is not permitted here';
    t.pass('each method that this machine permits', { skip: noUring });
  });

testProgram(
  '[6.keys] the keys that a keyboard announces and presses, and what players report',
  'media_test',
  WELL,
);
testProgram('[3.signal] answers of nl80211, and those of this kernel', 'netlink_test', /^(?:ok: .*\n){16,}$/);
testProgram(
  'reports of Windows are understood, on this machine',
  'windows_parsers_test',
  /^all well: 4\d checks$/m,
);
testProgram(
  "[3.drives] drives' reports about themselves, and what of them is shown",
  'drives_test',
  /^all well: 6\d checks$/m,
);
testProgram(
  '[9.doctor-media] [9.doctor-power] [9.doctor-gpu] the rows that platforms share',
  'describe_test',
  WELL,
);
testProgram('errors have a symbol, which is the same everywhere', 'error_test', /(?:)/);
testProgram(
  'the promises of the stream writer, by both methods of sending',
  'streams_test',
  /^all well: \d{4} checks$/m,
);
testProgram('announcing through an Avahi that behaves well, badly and not at all', 'discovery_test', WELL);
testProgram('the promises of the bus core', 'bus_test', /(?:)/, 'patient');

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
