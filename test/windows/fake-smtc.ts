/** The made-up Windows.Media.Control of test/windows/smtc as a library, to be enrolled in a prefix's registry. */
import path from 'node:path';
import { buildForWine } from './wine-program.ts';

const PARTS = ['object', 'told', 'session', 'manager', 'commands'];

/** Compiles it into `folder`. Resolves with the library's path. */
export async function buildFakeSmtc(folder: string): Promise<string> {
  const library = path.join(folder, 'fake_smtc.dll');
  await buildForWine(library, {
    sources: PARTS.map((part) => `test/windows/smtc/fake_${part}.cc`),
    flags: ['-shared'],
    libraries: ['runtimeobject', 'ole32', 'uuid'],
  });
  return library;
}
