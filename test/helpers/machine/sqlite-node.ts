/** Runs a test file under a Node that has node:sqlite, and in a mount namespace of its own where it mounts. */
import { spawnSync } from 'node:child_process';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import type { Test } from 'tap';

const ROOT = path.resolve(import.meta.dirname, '../../../../..');
/** The version in scripts/nodes.mjs. */
const VERSION = '22.23.3';
const INSIDE = 'HOSTWIRE_TEST_INSIDE';

/** Its path; the reason where npm cannot install it. */
export async function findSqliteNode(): Promise<{ readonly node: string } | { readonly reason: string }> {
  if (isBuiltin('node:sqlite')) return { node: process.execPath };
  const { provideNode } = (await import(path.join(ROOT, 'scripts/nodes.mjs'))) as {
    readonly provideNode: (version: string) => Promise<string>;
  };
  try {
    return { node: await provideNode(VERSION) };
  } catch (error) {
    return { reason: `no Node with node:sqlite: ${error instanceof Error ? error.message : String(error)}` };
  }
}

const UNSHARE = [
  '--mount',
  '--propagation',
  'private',
  ...(process.getuid?.() === 0 ? [] : ['--map-root-user']),
];

function whyNoNamespace(): string | undefined {
  const script = 'mount -t tmpfs none /mnt';
  const result = spawnSync('unshare', [...UNSHARE, 'sh', '-c', script], { encoding: 'utf8' });
  return result.status === 0
    ? undefined
    : `no mount namespace (${(result.stderr || String(result.error)).trim()})`;
}

/**
 * Defines tests of `file` in this process where that is possible. Otherwise the file runs in another process, whose
 * results become those of this one, or is skipped, and the returned function does nothing.
 */
export async function sqliteTests(
  t: Test,
  file: string,
  { mounts = false }: { readonly mounts?: boolean } = {},
): Promise<(name: string, run: (t: Test) => Promise<unknown>) => void> {
  const isHere = process.env[INSIDE] === file || (!mounts && isBuiltin('node:sqlite'));
  if (isHere) return (name, run) => void t.test(name, run);
  const found = await findSqliteNode();
  const reason = 'reason' in found ? found.reason : mounts ? whyNoNamespace() : undefined;
  if ('reason' in found || reason !== undefined) {
    t.test(path.basename(file), { skip: reason ?? '' }, async () => {});
  } else {
    const space = mounts ? ['unshare', ...UNSHARE] : [];
    // As scripts/tap.mjs.
    const [command = '', ...args] = [
      ...space,
      'env',
      '-u',
      'NODE_OPTIONS',
      `${INSIDE}=${file}`,
      found.node,
      // That of node:sqlite, where a test uses it itself.
      '--disable-warning=ExperimentalWarning',
      file,
    ];
    await t.spawn(command, args, mounts ? 'in a mount namespace' : 'under a Node with node:sqlite');
  }
  return () => {};
}
