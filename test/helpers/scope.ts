/** What a test starts ends with it. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A test, or a part of a program that ends what was started for it. */
export interface Scope {
  teardown(run: () => unknown): unknown;
}

/** An empty folder that goes with the test. */
export function emptyFolder(t: Scope, name = 'test'): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), `hostwire-${name}-`));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
