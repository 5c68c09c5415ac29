// Runs before and after `npm pack` and `npm publish` collect the files of a package.
//   node scripts/pack.mjs before | after   the service: builds what is missing, and names to npm the binaries of
// uWebSockets.js that the package does not take: 6 of 24, 38 of 139 MB
//   node scripts/pack.mjs client           @hostwire/client: copies the built client, and its types
import { cpSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { run } from './addon.mjs';
import { prebuild } from './prebuild.mjs';
import { isShipped, PREBUILT } from './prebuilt.mjs';
import { sourcesOf } from './sources.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const BINARIES = path.join(root, 'node_modules/uWebSockets.js/dist/bin');
/** npm reads this file in every folder that a package takes, and packs it in none. */
const IGNORED = path.join(BINARIES, '.npmignore');

const build = () => run(process.execPath, [path.join(root, 'scripts/build.mjs'), 'program', 'types'], true);

/** Returns those that do not exist or are older than a source. */
function missingPrebuilds() {
  const sources = ['CMakeLists.txt', ...sourcesOf('shared', 'linux', 'windows')];
  const newest = Math.max(...sources.map((file) => statSync(path.join(root, file)).mtimeMs));
  return PREBUILT.filter((name) => {
    const file = path.join(root, 'prebuilds', name, 'hostwire.node');
    return !existsSync(file) || statSync(file).mtimeMs < newest;
  });
}

/** A published package has all of them; one for this machine only may rely on a compiler there. */
function providePrebuilds() {
  for (const name of missingPrebuilds())
    try {
      prebuild([name]);
    } catch (error) {
      console.error(error.message);
      if (process.env.npm_command === 'publish') process.exit(1);
      rmSync(path.join(root, 'prebuilds', name), { recursive: true, force: true });
      console.error(
        `this package has no addon for ${name}: it is compiled when the package is installed there`,
      );
    }
}

function packClient() {
  build();
  const target = path.join(root, 'packages/client/dist');
  rmSync(target, { recursive: true, force: true });
  for (const name of ['client', 'wire'])
    cpSync(path.join(root, 'dist', name), path.join(target, name), { recursive: true });
}

const steps = {
  before() {
    build();
    providePrebuilds();
    writeFileSync(
      IGNORED,
      readdirSync(BINARIES)
        .filter((name) => !isShipped(name))
        .join('\n'),
    );
  },
  after: () => rmSync(IGNORED, { force: true }),
  client: packClient,
};

const step = steps[process.argv[2]];
if (step === undefined) throw new Error(`known: ${Object.keys(steps).join(', ')}`);
step();
