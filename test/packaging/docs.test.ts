/** The documentation in packages: every page that something shipped points to is there, and so is what it links to. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { emptyFolder } from '../helpers/scope.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
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
