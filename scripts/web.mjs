// Builds the pages, with a brotli and a gzip copy beside each file: the dashboard, from web/ into dist/web, and those of the
// hub, from web/fleet/ into dist/fleet: all machines, and the page of one, whose files are those of the dashboard.

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
const fleetTarget = path.join(root, 'dist/fleet');

function newestIn(folder) {
  return Math.max(
    ...readdirSync(folder, { recursive: true }).map(
      (name) => statSync(path.join(folder, String(name))).mtimeMs,
    ),
  );
}

/** The packages that are bundled into the dashboard. */
export const WEB_LIBRARIES = ['preact', 'uplot'];

/** Returns whether dist/web is missing or older than its sources. False if web/ is not shipped: it is built already. */
export function isWebMissing() {
  if (!existsSync(source)) return false;
  try {
    const newest = newestIn(source);
    return [target, fleetTarget].some((folder) => statSync(path.join(folder, 'index.html')).mtimeMs < newest);
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

/** A page cannot pin a certificate, so the client's code for that is omitted. */
const withoutPins = {
  name: 'without pins',
  setup(build) {
    build.onLoad({ filter: /\/src\/client\/pin\.ts$/ }, () => ({
      contents:
        'export const loadPinned = () => undefined; export const withPinned = (environment) => environment;',
    }));
  },
};

/** Browsers report no reason for a failed request, so the sentences for the codes of Node are omitted. */
const withoutSocketErrors = {
  name: 'without socket errors',
  setup(build) {
    build.onLoad({ filter: /\/src\/socket-errors\.ts$/ }, () => ({
      contents: 'export const SOCKET_ERRORS = {}; export const isCertificateError = () => false;',
    }));
  },
};

/**
 * Parts of uPlot that the pages do not use: dates, because the time axis has labels of its own; logarithmic scales; and, at
 * the end, the functions that uPlot hands out for bars, steps, curves and tables. Each is a begin, the begin of what follows, and the names that the
 * rest of uPlot mentions.
 * @type {readonly (readonly [string, string, ...string[]])[]}
 */
const UNUSED = [
  ['\nfunction rangeLog(', '\nconst rangePad', 'rangeLog', 'rangeAsinh'],
  ['\nconst months = ', '\n// default formatters', 'fmtDate'],
  [
    '\nfunction genTimeStuffs(',
    '\n// base 2',
    ...['timeIncrsMs', '_timeAxisStampsMs', 'timeAxisSplitsMs'],
    ...['timeIncrsS', '_timeAxisStampsS', 'timeAxisSplitsS'],
  ],
  [
    '\nfunction timeAxisStamps(',
    '\nfunction legendStroke(',
    ...['timeAxisStamps', 'timeAxisVals', 'timeAxisVal'],
    ...['_timeSeriesStamp', 'timeSeriesStamp', 'timeSeriesVal'],
  ],
  [
    '\nfunction logAxisSplits(',
    '\nfunction numSeriesVal(',
    ...['logAxisSplits', 'asinhAxisSplits', 'log10AxisValsFilt', 'log2AxisValsFilt'],
  ],
  ['\nuPlot.assign = ', '\nexport {'],
];

const withoutUnusedParts = {
  name: 'without unused parts',
  setup(build) {
    build.onLoad({ filter: /\/uPlot\.esm\.js$/ }, ({ path: file }) => {
      const contents = UNUSED.reduce(
        (text, [begin, next, ...names]) => {
          const [from, to] = [text.indexOf(begin), text.indexOf(next)];
          if (from < 0 || to < from) throw new Error(`${file} is not that of uPlot 1.6`);
          return (
            text.slice(0, from) + names.map((name) => `\nconst ${name} = () => [];`).join('') + text.slice(to)
          );
        },
        readFileSync(file, 'utf8'),
      );
      return { contents };
    });
  },
};

/** The scripts and styles of the pages, minified, by the names in their HTML. */
async function bundle() {
  // Imported only here: a checkout without devDependencies must still be able to build the rest.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: {
      main: 'web/main.tsx',
      style: 'web/style.css',
      'fleet-main': 'web/fleet/main.tsx',
      fleet: 'web/fleet/fleet.css',
    },
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
    plugins: [withoutPins, withoutSocketErrors, withoutUnusedParts],
  });
  return new Map(outputFiles.map((file) => [path.basename(file.path), Buffer.from(file.contents)]));
}

/** Returns `page` with the names of `files` replaced by those in `names`, which begin with `folder`. */
function withNames(page, files, names, folder) {
  return files.reduce((text, file) => {
    if (!text.includes(`"${file}"`)) throw new Error(`a page does not name ${file}`);
    // Relative: a proxy may serve the page under a path.
    return text.replaceAll(`"${file}"`, `"${folder}${names.get(file)}"`);
  }, page);
}

const FLEET_FILES = ['fleet-main.js', 'fleet.css'];
/** Path from the page of one machine to that of all. */
const HUB = '../../';

export async function buildWeb() {
  const started = Date.now();
  const files = await bundle();
  files.set('icon.svg', readFileSync(path.join(source, 'icon.svg')));
  files.set('licenses.txt', licensesOf(WEB_LIBRARIES));
  // Built beside the target and then renamed: a service that starts during the build finds either the old or
  // the new files.
  const [fresh, freshFleet] = [target, fleetTarget].map((folder) => `${folder}.new`);
  for (const folder of [fresh, freshFleet]) rmSync(folder, { recursive: true, force: true });
  const names = new Map();
  for (const [name, bytes] of files) {
    const { name: stem, ext } = path.parse(name);
    names.set(name, `assets/${stem}-${hashOf(bytes)}${ext}`);
    write(FLEET_FILES.includes(name) ? freshFleet : fresh, names.get(name), bytes);
  }
  const shared = [...files.keys()].filter((name) => !FLEET_FILES.includes(name));
  const page = readFileSync(path.join(source, 'index.html'), 'utf8');
  const fleet = readFileSync(path.join(source, 'fleet/index.html'), 'utf8');
  const host = page.replace('<html lang="en">', `<html lang="en" data-hub="${HUB}">`);
  if (host === page) throw new Error('web/index.html does not begin as expected');
  write(fresh, 'index.html', Buffer.from(withNames(page, shared, names, '')));
  write(freshFleet, 'host.html', Buffer.from(withNames(host, shared, names, HUB)));
  const ofFleet = [...shared.filter((name) => name !== 'main.js'), ...FLEET_FILES];
  write(freshFleet, 'index.html', Buffer.from(withNames(fleet, ofFleet, names, '')));
  for (const folder of [target, fleetTarget]) {
    rmSync(folder, { recursive: true, force: true });
    renameSync(`${folder}.new`, folder);
  }
  console.error(`built the dashboard in ${Date.now() - started} ms`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildWeb();
