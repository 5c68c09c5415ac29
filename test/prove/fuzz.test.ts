/** Fifty million inputs that libFuzzer derives from the fixtures, through every parser under sanitizers. */
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import t from 'tap';

t.setTimeout(3_500_000);

const hasClang = spawnSync('clang++-14', ['--version'], { stdio: 'ignore' }).status === 0;

t.test('no parser fails on any input of libFuzzer', { skip: !hasClang && 'needs clang++-14' }, async (t) => {
  const millions = process.env['HOSTWIRE_FUZZ_MILLIONS'] ?? '50';
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/fuzz.mjs', millions], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  const closing = /^(\d+) executions through (\d+) parsers.*, 0 findings$/m.exec(stdout);
  t.equal(status, 0, stderr);
  t.ok(Number(closing?.[1]) >= Number(millions) * 1e6, 'as many executions as requested');
  t.comment(`figure: ${closing?.[0]}, with ASan and UBSan`);
});
