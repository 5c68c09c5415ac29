/**
 * Runs an image as Docker would: a root filesystem with the volumes of a service, in namespaces of its own, as its user,
 * without capabilities. By unshare(1) and chroot(1), because runtimes want control groups of version 2.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ComposeService } from './compose.ts';

export interface Image {
  readonly rootfs: string;
  /** "UID:GID". */
  readonly user: string;
  readonly command: readonly string[];
}

export interface Running {
  readonly child: ChildProcess;
  /** The service's pid outside the container. */
  readonly pid: number;
  readonly log: () => string;
  /** As `docker exec`, with more variables. */
  readonly exec: (
    command: readonly string[],
    variables?: Readonly<Record<string, string>>,
  ) => { readonly status: number | null; readonly stdout: string; readonly stderr: string };
  readonly stop: () => Promise<number | null>;
}

/** $1: the root; $2: UID:GID; $3: "ro" or "rw"; $4: the host name, "" for this machine's; then the number of mounts, SOURCE DESTINATION OPTIONS each, and the command. */
const ENTER = `
set -e
root=$1 user=$2 mode=$3 name=$4 mounts=$5
shift 5
mount --make-rslave /
mount --rbind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t tmpfs -o nosuid,mode=755 tmpfs "$root/dev"
for device in null zero random urandom; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
while [ "$mounts" -gt 0 ]; do
  mount --rbind "$1" "$root$2"
  case ,$3, in *,ro,*) mount -o remount,bind,ro "$root$2" ;; esac
  mounts=$((mounts - 1))
  shift 3
done
[ "$mode" = rw ] || mount -o remount,bind,ro "$root"
[ -z "$name" ] || hostname "$name"
exec setpriv --no-new-privs chroot --userspec="$user" --groups= "$root" "$@"
`;

/** In place of these sources of volumes; undefined: this machine has none, so that the volume is left out. */
type Sources = Readonly<Record<string, string | undefined>>;

function mountsOf({ volumes = [] }: ComposeService, sources: Sources, rootfs: string): readonly string[][] {
  return volumes.flatMap((volume) => {
    const [source = '', destination = '', options = 'rw'] = volume.split(':');
    const found = source in sources ? sources[source] : source;
    if (found === undefined) return [];
    mkdirSync(path.join(rootfs, destination), { recursive: true });
    return [[found, destination, options]];
  });
}

/** The first child of `pid`, once there is one. */
async function childOf(pid: number): Promise<number> {
  for (;;) {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    if (child !== undefined && child !== '') return Number(child);
    await sleep(20);
  }
}

export async function runImage(
  image: Image,
  service: ComposeService,
  variables: Readonly<Record<string, string>>,
  sources: Sources = {},
): Promise<Running> {
  const { rootfs, command } = image;
  const user = service.user ?? image.user;
  const env: Record<string, string> = { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
  for (const [name, value] of Object.entries({ ...service.environment, ...variables })) env[name] = value;
  const mounts = mountsOf(service, sources, rootfs);
  const ownProcesses = service.pid === 'host' ? [] : ['--pid', '--fork', '--kill-child'];
  const mode = service.read_only ? 'ro' : 'rw';
  const [ownName, name] = service.uts === 'host' ? [[], ''] : [['--uts'], 'container'];
  const words = [rootfs, user, mode, name, String(mounts.length), ...mounts.flat(), ...command];
  const unshare = ['--mount', '--ipc', ...ownName, ...ownProcesses, 'sh', '-c', ENTER, 'sh', ...words];
  const child = spawn('unshare', unshare, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  const outer = child.pid ?? 0;
  const pid = service.pid === 'host' ? outer : await childOf(outer);
  const [uid = '', gid = ''] = user.split(':');
  return {
    child,
    pid,
    log: () => log,
    exec: (words, more = {}) => {
      const args = [
        '--target',
        String(pid),
        '--all',
        '--root',
        '--wd',
        '--setuid',
        uid,
        '--setgid',
        gid,
        ...words,
      ];
      return spawnSync('nsenter', args, { env: { ...env, ...more }, encoding: 'utf8' });
    },
    stop: async () => {
      if (child.exitCode !== null) return child.exitCode;
      process.kill(pid, 'SIGTERM');
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    },
  };
}
