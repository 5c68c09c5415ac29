// Bundles tap for the test files, where they find it before the package: tap is some 300 files, which take half of the
// processor time of a short test, and every run of `npm test` is a process of its own.
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);

/** Relative to the modules of the tests (compile.mjs). */
const FOLDER = path.join(root, 'build/ts/node_modules/tap');

/** Leaves the bundle out of stack traces, as tap leaves its own packages out. */
const ENTRY = `import { addIgnoredPackage } from '@tapjs/stack';
  export * from 'tap';
  export { t as default } from 'tap';
  addIgnoredPackage('tap');`;

/** Writes the bundle if it is missing or older than the package. */
export async function bundleTap() {
  const source = require.resolve('tap/package.json');
  const bundle = path.join(FOLDER, 'index.js');
  if (existsSync(bundle) && statSync(bundle).mtimeMs > statSync(source).mtimeMs) return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(path.join(FOLDER, 'package.json'), '{ "type": "module", "exports": "./index.js" }\n');
  const { build } = await import('esbuild');
  await build({
    stdin: { contents: ENTRY, resolveDir: root },
    outfile: bundle,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: {
      js: "import { createRequire as requireIn } from 'node:module'; const require = requireIn(import.meta.url);",
    },
    logLevel: 'warning',
  });
}
