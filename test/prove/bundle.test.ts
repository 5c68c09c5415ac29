/** The bundle for Linux: the same bytes twice, small enough, and it runs where there is no Node. */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { checkTime } from '../helpers/limits.ts';
import { bytesIn } from '../helpers/packages.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { DebianRoot, differences, whyNoRoot } from '../packaging/debian-root.ts';
import { digestOf, make, makeAddon } from '../packaging/made.ts';

const MAX_BYTES = 35e6;
/** From the start to the first event. */
const MAX_FIRST_EVENT_MS = 1000;
/** The oldest with glibc 2.31, and the two that are maintained. */
const RELEASES = ['bullseye', 'bookworm', 'trixie'] as const;

t.setTimeout(1_800_000);
const skip = whyNoRoot() ?? false;
const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);

t.test('the bundle', { skip }, async (t) => {
  const folder = emptyFolder(t, 'bundle');
  makeAddon('linux-x64');
  const [first, second] = ['first', 'second'].map((name) => make('bundle.mjs', path.join(folder, name)));
  const [xz = ''] = first ?? [];
  t.match(xz, /hostwire-[\w.-]+-linux-x64\.tar\.xz$/);
  t.strictSame(second?.map(digestOf), first?.map(digestOf), 'two runs make the same bytes');
  t.ok(statSync(xz).size <= MAX_BYTES, `${statSync(xz).size} bytes`);
  t.comment(`figure: ${megabytes(statSync(xz).size)} MB as .tar.xz`);

  const owners = execFileSync('tar', ['-tvJf', xz, '--numeric-owner'], { encoding: 'utf8' });
  t.strictSame(
    owners.split('\n').filter((line) => line !== '' && !/^[-d]rw[-x]r-[-x]r-[-x] 0\/0 /.test(line)),
    [],
    'everything is root’s, and readable for all',
  );
  for (const release of RELEASES)
    await t.test(`unpacked, started and removed on Debian's ${release}, without Node`, async (t) => {
      const root = new DebianRoot(release, ['xz-utils']);
      t.teardown(() => root.remove());
      t.throws(() => root.run('command -v node'), 'there is none');
      root.add(xz, 'hostwire.tar.xz');
      const before = root.list();
      const { seconds } = root.timed(
        'tar -x -C /opt -f /media/test/hostwire.tar.xz && ln -s /opt/hostwire-*/hostwire /usr/local/bin/hostwire',
      );
      const bytes = bytesIn(path.join(root.folder, 'opt'));
      t.match(
        root.run('cd /usr && hostwire --version'),
        /^\d.*\ncommit: .*\nHTTP engine: uWebSockets\.js \(its binary loads here\)\n/,
      );
      const { event, exitCode, firstEventMs, log } = await root.serve(['/usr/local/bin/hostwire']);
      t.ok(JSON.parse(event).memory.used > 0, event);
      t.equal(exitCode, 0, 'SIGTERM reaches the program through the launcher');
      t.notMatch(log, /\b(?:error|warn): (?!running as root|power\.backend is record)/);
      t.match(
        root.run('hostwire keygen --tls --out /media/test bundle.test'),
        /sha256\//,
        'and what is loaded late',
      );
      checkTime(t, firstEventMs, MAX_FIRST_EVENT_MS, 'from the start to the first event');
      root.run('rm -r /opt/hostwire-* /usr/local/bin/hostwire');
      t.strictSame(differences(before, root.list()), [], 'nothing is left');
      t.comment(
        `figure: ${release}: unpacked in ${seconds} s, ${megabytes(bytes)} MB, first event ${firstEventMs.toFixed(0)} ms after the start`,
      );
    });
});
