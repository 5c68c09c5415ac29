/** The files of the HTTP engine are those whose digests scripts/engine.sha256 has. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { emptyFolder } from './helpers/scope.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const { findDifferences } = (await import(path.join(root, 'scripts/engine.mjs'))) as {
  readonly findDifferences: (folder?: string, digests?: string) => readonly string[];
};

t.test(
  'the installed files are the recorded ones; a changed, a new and a missing one are found',
  async (t) => {
    t.strictSame(findDifferences(), []);
    const folder = emptyFolder(t, 'engine');
    cpSync(path.join(root, 'node_modules/uWebSockets.js/dist'), folder, { recursive: true });
    const binary = path.join(folder, 'bin/uws_linux_x64_115.node');
    const bytes = readFileSync(binary);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    writeFileSync(binary, bytes);
    writeFileSync(path.join(folder, 'more.mjs'), '');
    rmSync(path.join(folder, 'bin/uws_win32_x64_115.node'));
    t.strictSame([...findDifferences(folder)].sort(), [
      'bin/uws_linux_x64_115.node is not the one that was recorded',
      'bin/uws_win32_x64_115.node is missing',
      'more.mjs is not recorded',
    ]);
    t.strictSame(findDifferences(folder, 'no digests'), ['scripts/engine.sha256 has no digests']);
  },
);
