/** Every reader of the machine, with each of its allocations failing once, under sanitizers. */
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import t from 'tap';

t.setTimeout(1_800_000);

t.test('no reader crashes, leaks or hangs when memory runs out', { timeout: 1_800_000 }, async (t) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/starve.mjs', '--every'], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  t.equal(status, 0, `${stdout}${stderr}`.slice(-8000));
  const machines = [...stdout.matchAll(/^([a-z-]+):\n(?:.*\n)*?(\d+) allocations of readers failed$/gm)];
  t.equal(machines.length, 2, 'two machines were read');
  for (const [, name, failures] of machines) {
    t.ok(Number(failures) > 500, `${name}: ${failures} allocations failed`);
    t.comment(`figure: ${name}: ${failures} allocations failed one by one, with ASan, LSan and UBSan`);
  }
});
