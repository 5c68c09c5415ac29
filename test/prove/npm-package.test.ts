/** The npm package on Debian 12 and 13: installed for all users, started and removed, without a network or a compiler. */
import { copyFileSync, cpSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { checkTime } from '../helpers/limits.ts';
import { bytesIn, findNpm, pack } from '../helpers/packages.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { DebianRoot, differences, whyNoRoot } from '../packaging/debian-root.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const { provideNode } = (await import(path.join(ROOT, 'scripts/nodes.mjs'))) as {
  readonly provideNode: (version: string) => Promise<string>;
};
const NODE = '22.23.3';
const MAX_INSTALL_MS = 10_000;
/** From the start to the first event. */
const MAX_FIRST_EVENT_MS = 1000;
/** Files that npm makes and keeps: its cache and its logs, and the folder of all packages for all users. */
const OF_NPM =
  /^\+ (?:\/root\/\.npm|\/usr\/local\/lib\/node_modules|\/usr\/local\/share\/man\/man1)$|^\+ \/root\/\.npm\//;

t.setTimeout(1_800_000);
const skip = whyNoRoot() ?? false;
const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);

/** Node in /usr/local, laid out as nodejs.org does it: the one that Debian 12 has is 18, which is too old. */
async function addNode(root: DebianRoot): Promise<void> {
  const target = path.join(root.folder, 'usr/local');
  const modules = path.join(target, 'lib/node_modules');
  mkdirSync(modules, { recursive: true });
  copyFileSync(await provideNode(NODE), path.join(target, 'bin/node'));
  cpSync(findNpm(), path.join(modules, 'npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', path.join(target, 'bin/npm'));
}

const MACHINES: Readonly<Record<string, () => Promise<DebianRoot>>> = {
  bookworm: async () => {
    const root = new DebianRoot('bookworm');
    await addNode(root);
    return root;
  },
  // Its own Node is 20.
  trixie: async () => new DebianRoot('trixie', ['nodejs', 'npm']),
};

t.test('the npm package', { skip }, async (t) => {
  const tarball = pack(emptyFolder(t));
  t.comment(`figure: ${megabytes(statSync(tarball).size)} MB`);
  for (const [release, make] of Object.entries(MACHINES))
    await t.test(`installed for all users and removed on Debian's ${release}`, async (t) => {
      const root = await make();
      t.teardown(() => root.remove());
      t.throws(() => root.run('command -v g++ || command -v cc'), 'there is no compiler');
      root.add(tarball, 'hostwire.tgz');
      const before = root.list();
      const began = performance.now();
      const { seconds } = root.timed('npm install --global --offline /media/test/hostwire.tgz');
      checkTime(t, performance.now() - began, MAX_INSTALL_MS, 'the installation');
      const bytes = bytesIn(path.join(root.folder, 'usr/local/lib/node_modules/hostwire'));
      const node = root.run('node --version').trim();
      t.match(
        root.run('hostwire --version'),
        /^\d[\w.-]*\ncommit: .*\nHTTP engine: uWebSockets\.js \(its binary loads here\)\n/,
      );
      const { event, exitCode, firstEventMs, log } = await root.serve(['hostwire']);
      t.ok(JSON.parse(event).memory.used > 0, event);
      t.equal(exitCode, 0);
      t.notMatch(log, /\b(?:error|warn): (?!running as root|power\.backend is record)/);
      checkTime(t, firstEventMs, MAX_FIRST_EVENT_MS, 'from the start to the first event');
      root.run('npm uninstall --global hostwire');
      t.strictSame(
        differences(before, root.list()).filter((change) => !OF_NPM.test(change)),
        [],
        'nothing is left but what npm keeps for itself',
      );
      t.comment(
        `figure: ${release}, Node ${node}: installed in ${seconds} s, ${megabytes(bytes)} MB, first event ${firstEventMs.toFixed(0)} ms after the start`,
      );
    });
});
