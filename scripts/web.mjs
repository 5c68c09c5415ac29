// Builds the dashboard: web/ bundled by esbuild into dist/web, with a brotli and a gzip copy beside each file.

import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { licensesOf } from './bundle.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const source = path.join(root, 'web');
const target = path.join(root, 'dist/web');

function newestIn(folder) {
  return Math.max(
    ...readdirSync(folder, { recursive: true }).map(
      (name) => statSync(path.join(folder, String(name))).mtimeMs,
    ),
  );
}

/** The packages that are bundled into the dashboard. */
export const WEB_LIBRARIES = ['preact', 'uplot'];

/** Whether dist/web does not exist or is older than its sources. False where web/ is not shipped: it is built already. */
export function isWebMissing() {
  if (!existsSync(source)) return false;
  try {
    return statSync(path.join(target, 'index.html')).mtimeMs < newestIn(source);
  } catch {
    return true;
  }
}

function hashOf(bytes) {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 12);
}

/** Writes a file and its compressed copies, except those that save nothing. */
function write(folder, name, bytes) {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, bytes);
  const forms = [
    ['.br', brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })],
    ['.gz', gzipSync(bytes, { level: 9 })],
  ];
  for (const [ending, form] of forms) if (form.length < bytes.length) writeFileSync(file + ending, form);
}

/** `web/main.tsx` and `web/style.css`, minified. */
async function bundle() {
  // Imported only here: a checkout without devDependencies must still be able to build the rest.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['web/main.tsx', 'web/style.css'],
    outdir: target,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  });
  return new Map(outputFiles.map((file) => [path.basename(file.path), Buffer.from(file.contents)]));
}

export async function buildWeb() {
  const started = Date.now();
  const files = await bundle();
  files.set('icon.svg', readFileSync(path.join(source, 'icon.svg')));
  files.set('licenses.txt', licensesOf(WEB_LIBRARIES));
  // Built beside the target and then renamed: a service that starts meanwhile finds either the old or the new files.
  const fresh = `${target}.new`;
  rmSync(fresh, { recursive: true, force: true });
  let page = readFileSync(path.join(source, 'index.html'), 'utf8');
  for (const [name, bytes] of files) {
    const { name: stem, ext } = path.parse(name);
    const hashed = `assets/${stem}-${hashOf(bytes)}${ext}`;
    if (!page.includes(`"${name}"`)) throw new Error(`web/index.html does not name ${name}`);
    // Relative: a proxy may serve the page under a path.
    page = page.replaceAll(`"${name}"`, `"${hashed}"`);
    write(fresh, hashed, bytes);
  }
  write(fresh, 'index.html', Buffer.from(page));
  rmSync(target, { recursive: true, force: true });
  renameSync(fresh, target);
  console.error(`built the dashboard in ${Date.now() - started} ms`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildWeb();
