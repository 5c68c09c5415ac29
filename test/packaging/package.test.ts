/** The files of the npm package: what runs, what builds the addon, and each page that something shipped points to. */
import '../helpers/service/dead-buses.ts';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { npm } from '../helpers/packages.ts';
import { emptyFolder } from '../helpers/scope.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
/** Files whose text decides which others npm takes. */
const DECIDES = new Set(['.gitignore', '.npmignore', 'package.json']);

/** Copies `folder` with empty files: npm compresses what it packs even if it writes nothing, for ten seconds here. */
function copyEmpty(folder: string, target: string): void {
  mkdirSync(target, { recursive: true });
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const [from, to] = [path.join(folder, entry.name), path.join(target, entry.name)];
    if (['.git', 'build', 'node_modules'].includes(entry.name)) continue;
    if (entry.isDirectory()) copyEmpty(from, to);
    else if (DECIDES.has(entry.name)) copyFileSync(from, to);
    else if (entry.isFile()) writeFileSync(to, '');
  }
}

t.test('the package contains the program, its maps, and the client with its types', async (t) => {
  const folder = emptyFolder(t);
  copyEmpty(ROOT, folder);
  const { bundleDependencies: _, ...manifest } = JSON.parse(
    readFileSync(path.join(ROOT, 'package.json'), 'utf8'),
  );
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  const printed = npm(['pack', '--dry-run', '--json', '--ignore-scripts'], folder);
  const [{ files }] = JSON.parse(printed) as [{ readonly files: readonly { readonly path: string }[] }]; // As npm 7 and later print it.
  const names = files.map((file) => file.path);
  for (const needed of [
    ...['dist/main.js', 'dist/main.js.map', 'dist/licenses.txt', 'docs/operating.md'],
    ...['dist/client/client.js', 'dist/client/client.d.ts', 'dist/wire/usage.d.ts'],
    ...['dist/commit.txt', 'dist/share/man/man1/hostwire.1'],
    ...[
      'dist/api/openapi.json',
      'dist/web/index.html',
      'dist/fleet/index.html',
      'native/addon.cc',
      'scripts/addon.mjs',
    ],
  ])
    t.ok(names.includes(needed), needed);
  t.ok(
    names.some((name) => /^dist\/service-\w+\.js$/.test(name)),
    'the part that main.js imports',
  );
  t.strictSame(
    names.filter((name) => /^(?:src|test|build|bench|packages)\/|^dist\/.*\.node$/.test(name)),
    [],
  );
  // Modules, which a build before the bundle left in dist/, would be a second program.
  t.strictSame(
    names.filter(
      (name) =>
        /^dist\/.*\.js$/.test(name) &&
        !/^dist\/(?:\w+|(?:\w+-)+\w+|client\/(?:client|pinned)|(?:web|fleet)\/.*)\.js$/.test(name),
    ),
    [],
  );
});
const { layOutDocs, withoutDeadLinks } = (await import(path.join(ROOT, 'scripts/release/docs.mjs'))) as {
  readonly layOutDocs: (target: string) => void;
  readonly withoutDeadLinks: (page: string, folder: string) => string;
};

const target = emptyFolder(t, 'docs');
layOutDocs(target);

/** The files below `folder` with one of these endings. */
const filesIn = (folder: string, endings: RegExp): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name));

t.test('every link of a page leads to a file of the package', async (t) => {
  const pages = filesIn(target, /\.md$/);
  t.ok(pages.length > 20, `${pages.length} pages`);
  for (const page of pages)
    for (const [, link = ''] of readFileSync(page, 'utf8').matchAll(/\]\(([^()\s#]+)(?:#[^()\s]*)?\)/g))
      if (!/^[a-z]+:/.test(link))
        t.ok(existsSync(path.resolve(path.dirname(page), link)), `${path.relative(target, page)}: ${link}`);
});

t.test('the index of the documents is in the package, with links to what is there', async (t) => {
  const folder = path.join(target, 'docs');
  t.equal(existsSync(path.join(folder, 'README.md')), existsSync(path.join(ROOT, 'docs/README.md')));
  const page = '[a](api.md), [b](api.md#power) · [c](../SECURITY.md), [d](https://example.org/x)';
  t.equal(withoutDeadLinks(page, folder), page);
  t.equal(withoutDeadLinks('[a `b`](../CONTRIBUTING.md), [c](none.md#d)', folder), 'a `b`, c');
});

t.test('every page that the program and what is installed with it name is in the package', async (t) => {
  const sources = [
    ...filesIn(path.join(ROOT, 'src'), /\.ts$/),
    ...filesIn(path.join(ROOT, 'packaging'), /^(?!compose\.ts)/),
    ...['config.example.yaml', 'hub.example.yaml'].map((name) => path.join(ROOT, name)),
  ];
  const named = new Set(
    sources.flatMap((file) => readFileSync(file, 'utf8').match(/\bdocs\/[\w-]+\.md\b/g) ?? []),
  );
  t.ok(named.size > 5, `${named.size} pages`);
  for (const page of named) t.ok(existsSync(path.join(target, page)), page);
});
