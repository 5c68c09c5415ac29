/** Generic netlink by hand, in a C++ program of its own under the address sanitizer: no Wi-Fi is needed for it. */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../../..');
const program = path.join(root, 'build/netlink_test');

t.setTimeout(300_000);

t.test('[3.signal] what nl80211 answers, and what this kernel does', async (t) => {
  mkdirSync(path.dirname(program), { recursive: true });
  await run(
    process.env['CXX'] ?? 'g++',
    [
      ...[
        '-std=c++20',
        '-O1',
        '-g',
        '-fsanitize=address,undefined',
        '-Wall',
        '-Wextra',
        '-Wconversion',
        '-Werror',
      ],
      '-Inative',
      'test/native/netlink_test.cc',
      'native/linux/network/generic_netlink.cc',
      'native/linux/network/parse_nl80211.cc',
      'native/linux/kernel/file.cc',
      ...['-o', program],
    ],
    { cwd: root, timeout: 280_000 },
  );
  const { stdout } = await run(program, [], { timeout: 20_000 }).catch((error: unknown) => {
    // execFile rejects with an Error that carries what the process printed.
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { stdout: `${stdout}${stderr}\nFAILED: the program` };
  });
  const lines = stdout.trim().split('\n');
  t.ok(lines.length > 15, `${lines.length} checks`);
  t.strictSame(
    lines.filter((line) => !line.startsWith('ok: ')),
    [],
  );
});
