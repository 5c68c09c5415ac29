/** The types of src/, test/, bench/ and web/: modules are compiled without looking at them. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';

const ROOT = path.resolve(import.meta.dirname, '../../..');

t.test('every type is right', async (t) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [path.join(ROOT, 'scripts/build.mjs'), 'types'],
    { encoding: 'utf8' },
  );
  t.equal(status, 0, `${stdout}${stderr}`);
});
