/**
 * The container image on Debian 12 and 13: loaded, run and removed by the tools of the release. buildah, because podman's
 * runtimes want control groups of version 2; what it stores and how it loads an image are podman's.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { emptyFolder } from '../helpers/scope.ts';
import { buildImage, whyNoImage } from '../packaging/container/image.ts';
import { DebianRoot, differences, whyNoRoot } from '../packaging/debian-root.ts';

/** buildah, and the networks that those of Debian 13 look for even where none is wanted. */
const PACKAGES = { bookworm: ['buildah'], trixie: ['buildah', 'netavark'] };
/** The databases and locks of buildah's empty store, and the lock of its networks. */
const OF_BUILDAH = /^\+ \/(?:var\/lib\/containers|etc\/cni)(?:\/|$)/;

t.setTimeout(3_000_000);
const skip = whyNoRoot() ?? whyNoImage() ?? false;

t.test('the container image', { skip }, async (t) => {
  const folder = emptyFolder(t, 'image');
  const image = buildImage(folder, false);
  t.teardown(() => image.remove());
  const archive = path.join(folder, 'image.tar');
  image.save(archive);
  t.comment(`figure: ${(statSync(archive).size / 1e6).toFixed(0)} MB as a file`);
  for (const [release, packages] of Object.entries(PACKAGES))
    await t.test(`loaded, run and removed on Debian's ${release}`, async (t) => {
      const root = new DebianRoot(release, packages);
      t.teardown(() => root.remove());
      root.add(archive, 'image.tar');
      const before = root.list();
      // In place of what buildah has by default, which may be more than this machine allows.
      const limits = '--ulimit nofile=4096:4096 --ulimit nproc=4096:4096';
      const { seconds } = root.timed(
        `buildah pull docker-archive:/media/test/image.tar && buildah from --name hostwire ${limits} localhost/hostwire`,
      );
      const how = '--isolation chroot --env HOSTWIRE_POWER_BACKEND=record';
      const run = `buildah run ${how} hostwire --`;
      // Not its exit code: buildah kills what it runs (packaging/slow/container has the service's own).
      const { event, firstEventMs, log } = await root.serve([...run.split(' '), ...image.command]);
      t.ok(JSON.parse(event).memory.used > 0, event);
      t.notMatch(log, /\berror: /);
      // The service's own part is judged by packaging/slow/container.
      const empty = root.timed(`${run} ${image.command[0]} --version`);
      root.run('buildah rm hostwire && buildah rmi localhost/hostwire');
      t.equal(root.run('buildah images --quiet; buildah containers --quiet'), '');
      const left = differences(before, root.list());
      t.strictSame(
        left.filter((change) => !OF_BUILDAH.test(change)),
        [],
        'nothing is left',
      );
      const bytes = Number(root.run('du -sb /var/lib/containers').split('\t')[0]);
      t.ok(bytes < 1e6, `${bytes} bytes of an empty store`);
      t.comment(
        `figure: ${release}: loaded in ${seconds} s, first event ${firstEventMs.toFixed(0)} ms after the start of buildah, which takes ${empty.seconds} s to run nothing`,
      );
    });
});
