// The documentation that packages carry.
import { cpSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

/**
 * The pages that the program, its units and the README of each package point to, and all that those pages
 * link to. Packages have them under the same names, so that links hold.
 */
export const DOCUMENTATION = [
  'docs',
  'SECURITY.md',
  'packaging/compose',
  'packaging/config.yaml',
  'packaging/grafana',
  'packaging/mqtt',
  'packaging/windows.md',
];

/** Copies them below `target`. */
export function layOutDocs(target) {
  for (const name of DOCUMENTATION) {
    mkdirSync(path.dirname(path.join(target, name)), { recursive: true });
    cpSync(path.join(root, name), path.join(target, name), { recursive: true });
  }
}
