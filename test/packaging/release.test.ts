/** The bill of materials of a release, and the refusal of its script to publish anything. */
import '../helpers/service/dead-buses.ts';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';

const ROOT = path.resolve(import.meta.dirname, '../../../..');

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly scope: string;
  readonly licenses: readonly object[];
}

interface Bom {
  readonly bomFormat: string;
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string; readonly component: { readonly name: string } };
  readonly components: readonly Component[];
}

t.test('without --dry-run it refuses', async (t) => {
  const script = path.join(ROOT, 'scripts/release/release.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  t.strictSame([status, stdout], [1, '']);
  t.match(stderr, /^cannot make a release: nothing is published from here: --dry-run makes .*\n$/);
});

t.test('the bill of materials has all that is shipped, and nothing else', async (t) => {
  const { describeContents } = (await import(path.join(ROOT, 'scripts/release/sbom.mjs'))) as {
    readonly describeContents: (commit: string, seconds: number) => string;
  };
  const text = describeContents('a commit', 1_790_000_000);
  t.equal(describeContents('a commit', 1_790_000_000), text, 'the same twice');
  const bom = JSON.parse(text) as Bom; // From npm; the next lines check its format.
  t.match(bom, { bomFormat: 'CycloneDX', specVersion: '1.5', metadata: { component: { name: 'hostwire' } } });
  t.match(bom.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  t.equal(bom.metadata.timestamp, '2026-09-21T14:13:20.000Z');
  const { dependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const names = bom.components.map(({ name }) => name);
  for (const name of [...Object.keys(dependencies), 'valibot', 'mqtt', 'preact', 'uplot', 'node'])
    t.ok(names.includes(name), name);
  t.notOk(names.includes('typescript') || names.includes('esbuild'), 'not what only builds it');
  for (const { name, version, purl, scope, licenses } of bom.components) {
    t.match(purl, new RegExp(`^pkg:(?:npm|generic)/.*@${version}$`), name);
    t.equal(scope, 'required', name);
    t.ok(licenses.length > 0, name);
  }
  // Each that is bundled has its license in the program, under the name of its folder.
  const texts = readFileSync(path.join(ROOT, 'dist/licenses.txt'), 'utf8');
  for (const name of texts.match(/(?<=\n\n)@?[\w./-]+(?=\n\n)/g) ?? [])
    t.ok(names.includes(name.replace(/.*\/node_modules\//, '')), name);
});

t.test('a bundle names the glibc that its binaries need', async (t) => {
  const { requirementOf } = (await import(path.join(ROOT, 'scripts/release/libraries.mjs'))) as {
    readonly requirementOf: (files: readonly string[]) => {
      readonly text: string;
      readonly isForOldest: boolean;
    };
  };
  t.strictSame(requirementOf([]), {
    text: 'glibc 2.31 or later and libstdc++ (Debian 11, Ubuntu 20.04, RHEL 9 and later)',
    isForOldest: true,
  });
  // The addon of this machine, which may need more.
  const { text, isForOldest } = requirementOf([path.join(ROOT, 'dist/hostwire.node')]);
  const wanted = isForOldest
    ? /^glibc 2\.31 /
    : /^glibc 2\.(?:3[2-9]|[4-9]\d) or later and libstdc\+\+ of GCC \d+ or later$/;
  t.match(text, wanted);
  t.match(readFileSync(path.join(ROOT, 'packaging/bundle/README.txt'), 'utf8'), /^@NEEDS@\.$/m);
});
