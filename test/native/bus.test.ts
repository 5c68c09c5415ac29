/** The bus core in a C++ program of its own, plain and under the sanitizers; and our declarations of its library. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import {
  compile,
  execute,
  PLAIN,
  type Program,
  SANITIZED,
  syntaxCheck,
  type Variant,
} from '../helpers/native/program.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
const skip = process.platform !== 'linux' && 'for Linux';

const program: Program = {
  folder: 'bus-test',
  includes: ['test/native'],
  sources: [
    'test/native/bus_test.cc',
    'test/native/fake_bus.cc',
    ...readdirSync(path.join(root, 'native/linux/bus'))
      .filter((file) => file.endsWith('.cc'))
      .map((file) => `native/linux/bus/${file}`),
  ],
};

t.setTimeout(300_000);
t.test('the promises of the bus core, among them to hostile peers', { skip }, async (t) => {
  const check = async (variant: Variant) => {
    const cannot = await compile(program, variant);
    const outcome =
      cannot === undefined ? await execute(program, variant) : { isSuccess: true, text: '', missing: cannot };
    const isLibraryMissing = outcome.text.includes('no library');
    t.comment(`${variant.name}: ${outcome.text.trim()}`);
    t.ok(outcome.isSuccess, `${variant.name}: no check failed and nothing was reported`, {
      skip: outcome.missing ?? (isLibraryMissing && 'libsystemd, libelogind and libbasu are missing'),
      output: outcome.text,
    });
  };
  // The plain one alone, for it is strict about times.
  await check(PLAIN);
  for (const variant of SANITIZED) await check(variant);
});

const header = '/usr/include/systemd/sd-bus.h';
t.test(
  'our declarations are those of the real header',
  { skip: skip || (!existsSync(header) && 'no libsystemd-dev (apt-get install libsystemd-dev)') },
  async (t) => {
    const { isSuccess, text } = await syntaxCheck('test/native/sd_bus_types.cc');
    t.ok(isSuccess, 'each function has the type that the table says', { output: text });
  },
);
