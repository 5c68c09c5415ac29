/** Clang's analyzer over the C++ sources, on every path it can follow: lint stops after 50,000 nodes per function. */
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import t from 'tap';

t.setTimeout(3_500_000);

const hasTidy = ['clang-tidy-14', 'clang-tidy'].some(
  (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0,
);

t.test('lint --deep finds nothing', { skip: !hasTidy && 'needs clang-tidy' }, async (t) => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/lint.mjs', '--deep'], {
    encoding: 'utf8',
  });
  t.equal(status, 0, stderr.slice(-8000));
});
