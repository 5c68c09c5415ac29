/** Drives: what is made of their bytes, and which of their answers are shown. Plain and under the sanitizers. */
import t from 'tap';
import { compile, execute, PLAIN, SANITIZED } from '../helpers/native/program.ts';

t.setTimeout(280_000);

const PROGRAM = {
  folder: 'drives-test',
  sources: [
    'test/native/drives_test.cc',
    ...['drives', 'prober', 'prober_state'].map((name) => `native/host/${name}.cc`),
    ...['parse_ata_health', 'parse_nvme_health'].map((name) => `native/firmware/${name}.cc`),
    'native/windows/drives/parse_storage.cc',
    'native/linux/thread.cc',
  ],
};

for (const variant of [PLAIN, ...SANITIZED])
  t.test(`drives (${variant.name})`, { skip: process.platform !== 'linux' && 'for Linux' }, async (t) => {
    const missing = await compile(PROGRAM, variant);
    const outcome = missing === undefined ? await execute(PROGRAM, variant) : undefined;
    const skip = missing ?? outcome?.missing ?? false;
    t.ok(outcome?.isSuccess, variant.name, { skip, output: outcome?.text });
    t.match(outcome?.text, /^all well: 6\d checks$/m, 'all of them ran', { skip });
  });
