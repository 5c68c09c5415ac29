/** The C++ programs of the tests under the sanitizers that find races and bad memory: the first report ends one. */
import process from 'node:process';
import t from 'tap';
import { runProgram, type Variant, whyNoProgram } from '../../helpers/native/program.ts';

const PROGRAMS: readonly (readonly [name: string, ...variants: readonly Variant[]])[] = [
  ['art_file_test', 'address', 'thread'],
  ['bus_test', 'address', 'thread'],
  ['discovery_test', 'address', 'thread'],
  ['prober_test', 'address', 'thread'],
  ['streams_test', 'address', 'thread'],
  ['describe_test', 'address'],
  ['media_test', 'address'],
  ['netlink_test', 'address'],
  ['windows_parsers_test', 'address'],
  ['drives_test', 'address'],
];

/** It takes the ids of other users. */
const FOR_ROOT = new Set(['art_file_test']);
const notRoot = (name: string) =>
  FOR_ROOT.has(name) && process.getuid?.() !== 0 && 'only root may take the ids of others';

t.setTimeout(600_000);
for (const [name, ...variants] of PROGRAMS)
  for (const variant of variants)
    t.test(
      `${name} under the ${variant} sanitizer`,
      { skip: whyNoProgram(name, variant) || notRoot(name) },
      async (t) => {
        const { isSuccess, text, missing } = await runProgram(name, variant, ['patient']);
        t.comment(text.trim());
        t.ok(isSuccess, 'no check failed and nothing was reported', { skip: missing, output: text });
      },
    );
