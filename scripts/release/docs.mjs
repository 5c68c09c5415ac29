// The documentation that packages carry.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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

/** Returns a page in `folder` with the text alone of each link to a file that is not there. */
export const withoutDeadLinks = (page, folder) =>
  page.replace(/\[([^\]]+)\]\(([^()\s#]+)(?:#[^()\s]*)?\)/g, (link, text, file) =>
    /^[a-z]+:/.test(file) || existsSync(path.join(folder, file)) ? link : text,
  );

/** Copies them below `target`. The index, docs/README.md, also names documents for contributors, which are not copied. */
export function layOutDocs(target) {
  for (const name of DOCUMENTATION) {
    mkdirSync(path.dirname(path.join(target, name)), { recursive: true });
    cpSync(path.join(root, name), path.join(target, name), { recursive: true });
  }
  const docs = path.join(target, 'docs');
  const index = path.join(docs, 'README.md');
  if (existsSync(index)) writeFileSync(index, withoutDeadLinks(readFileSync(index, 'utf8'), docs));
}
