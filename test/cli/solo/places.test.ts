/** `check`, `doctor` and `run` where machines differ: their exit codes and texts, as docs/operating.md has them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { ask, jsonOf } from '../../helpers/clients/http.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { DEAD_BUSES } from '../../helpers/service/dead-buses.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';

const MAIN = fileURLToPath(new URL('../../../../../dist/main.js', import.meta.url));
const NOT_ROOT = process.getuid?.() !== 0 && 'needs root, for mount namespaces';

interface Place {
  readonly name: string;
  /** Added to the configuration as `host`, beside a recording power backend. */
  readonly host?: { readonly root: string; readonly name: string };
  /** Shell commands before the program `"$@"`, in a mount namespace; `$NODE` and `$APP` are there for every user. */
  readonly enter: string;
  /** Subject → what its row of `doctor --json` is like. */
  readonly rows: Readonly<Record<string, object>>;
  /** In the log of `run`. */
  readonly log?: RegExp;
  /** Nothing is printed. */
  readonly isSilent?: true;
}

const TO_CHROOT = `
cd "$FOLDER"
mkdir -p jail/host jail/proc jail/sys jail/dev jail/etc jail/usr jail/lib jail/lib64 jail/bin "jail$FOLDER/app"
mount --rbind / jail/host
for each in proc sys dev etc usr lib lib64 bin; do [ ! -e /$each ] || mount --rbind /$each jail/$each; done
touch "jail$FOLDER/node"
mount --bind "$NODE" "jail$FOLDER/node"
mount --bind "$APP" "jail$FOLDER/app"
cp "$FOLDER"/*.json "jail$FOLDER"
exec chroot jail "$@"`;

const PLACES: readonly Place[] = [
  {
    name: 'root',
    enter: 'exec "$@"',
    rows: { rights: { status: 'partly', source: 'running as root' } },
    log: /warn: running as root, which is not needed/,
  },
  {
    name: 'a user without an entry in passwd',
    enter: 'exec setpriv --reuid 54321 --regid 54321 --clear-groups "$@"',
    rows: {
      rights: { status: 'works', source: 'running as user 54321' },
      processes: { status: 'works' },
    },
    log: /^(?!.*running as root)/s,
  },
  {
    name: '/proc with hidepid',
    enter:
      'mount -t proc -o hidepid=2 none /proc; exec setpriv --reuid 54321 --regid 54321 --clear-groups "$@"',
    rows: {
      processes: {
        status: 'partly',
        reason: '/proc shows only the processes of this user: it is mounted with hidepid',
        remedy: /^mount it without hidepid, or add this user to the group of its option gid=/,
      },
    },
  },
  {
    name: 'no /sys',
    enter: 'mount -t tmpfs none /sys; exec "$@"',
    rows: {
      network: {
        status: 'partly',
        source: /from \/proc\/net\/dev$/,
        reason: /^there is no \/sys\/class\/net, which has the kind and the state of each interface/,
        remedy: /^mount sysfs there/,
      },
      cpu: { status: 'works' },
      memory: { status: 'works' },
      temperature: { status: 'missing' },
    },
  },
  {
    name: 'a container without host.root',
    enter: 'mount -t tmpfs none /run; touch /run/.containerenv; exec "$@"',
    rows: {
      container: { status: 'partly', reason: /^the container's own are shown \(disks, .*host name\)$/ },
    },
    log: /warn: running in a container: the container's own are shown \(disks, .*; mount the host's root folder /,
  },
  {
    name: 'a chroot with host.root',
    host: { root: '/host', name: 'nas' },
    enter: TO_CHROOT,
    rows: { disks: { status: 'works', source: /\/host\/proc/ }, processes: { source: /\/host\/proc$/ } },
  },
  {
    name: '64 descriptors',
    enter: 'ulimit -n 64; exec "$@"',
    rows: { processes: { status: 'works' }, disks: { status: 'works' } },
  },
  { name: 'closed output', enter: 'exec "$@" >&- 2>&-', rows: {}, isSilent: true },
];

/** Mounts the program where every user can read it, no matter who owns this checkout. */
const SET_UP = `
set -e
mount --make-rprivate /
mount --bind "$ROOT" "$APP"
mount --bind "$EXEC" "$NODE"
`;

interface World {
  readonly place: Place;
  readonly folder: string;
}

function openWorld(t: Test, place: Place): World {
  const folder = emptyFolder(t, 'place');
  chmodSync(folder, 0o755);
  mkdirSync(path.join(folder, 'app'));
  writeFileSync(path.join(folder, 'node'), '');
  const config = { power: { backend: 'record' }, ...(place.host && { host: place.host }) };
  writeFileSync(path.join(folder, 'config.json'), JSON.stringify(config), { mode: 0o644 });
  writeFileSync(path.join(folder, 'wrong.json'), '{"log": {"level": "loud"}}', { mode: 0o644 });
  return { place, folder };
}

/** Starts the program in the place; a pid namespace of its own ends with it. */
function start({ place, folder }: World, args: readonly string[]): ChildProcess {
  const inside = (name: string) => path.join(folder, name);
  const program = [inside('node'), inside('app/dist/main.js'), ...args];
  const command = ['unshare', '--mount', 'sh', '-c', SET_UP + place.enter, 'sh', ...program];
  return spawn(command[0] ?? '', command.slice(1), {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: '/',
    env: {
      ...process.env,
      ...DEAD_BUSES,
      // Another user cannot write where the tests' coverage is counted.
      NODE_V8_COVERAGE: '',
      HOME: '/',
      XDG_CONFIG_HOME: '',
      FOLDER: folder,
      ROOT: path.dirname(path.dirname(MAIN)),
      APP: inside('app'),
      EXEC: process.execPath,
      NODE: inside('node'),
    },
  });
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function collect(child: ChildProcess): Promise<Ended> {
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (part: string) => {
      texts[name] += part;
    });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...texts };
}

const run = (world: World, command: string, file: string, ...args: readonly string[]) =>
  collect(start(world, [command, '--config', path.join(world.folder, file), ...args]));

async function checkRun(t: Test, world: World): Promise<void> {
  const port = await findFreePort();
  const file = path.join(world.folder, 'config.json');
  const child = start(world, ['run', '--config', file, '--host', '127.0.0.1', '--port', String(port)]);
  const ended = collect(child);
  t.teardown(() => child.kill('SIGKILL'));
  let status = 0;
  for (let i = 0; i < 400 && status !== 200 && child.exitCode === null; i++) {
    status = await ask(port, '/api/status').then(
      (answer) => answer.status,
      () => 0,
    );
    if (status !== 200) await sleep(50);
  }
  t.equal(status, 200, 'run serves');
  const first = jsonOf(await ask(port, '/api/usage')) as unknown as Usage;
  const second = jsonOf(await ask(port, '/api/usage')) as unknown as Usage;
  t.ok(first.memory.used > 0);
  const growth = second.network.bytesRecv - first.network.bytesRecv;
  t.ok(growth >= 0 && growth < 100_000_000, `totals of the network do not jump: ${growth} bytes`);
  if (world.place.host !== undefined)
    t.ok(
      first.disks.some(({ fs }) => fs === '/'),
      "the host's disks",
    );
  child.kill('SIGTERM');
  const { code, stdout, stderr } = await ended;
  t.equal(code, 0, 'and ends in good order');
  t.equal(stdout, '');
  if (world.place.isSilent === true) t.equal(stderr, '');
  else t.match(stderr, new RegExp(`listening on http://127\\.0\\.0\\.1:${port}`));
  if (world.place.log !== undefined) t.match(stderr, world.place.log);
}

interface Usage {
  readonly memory: { readonly used: number };
  readonly network: { readonly bytesRecv: number };
  readonly disks: readonly { readonly fs: string }[];
}

interface Row {
  readonly subject: string;
  readonly status: string;
}

for (const place of PLACES)
  t.test(`[9.places] ${place.name}`, { skip: NOT_ROOT }, async (t) => {
    const world = openWorld(t, place);
    const isSilent = place.isSilent === true;
    const texts = (text: string) => (isSilent ? '' : text);

    const checked = await run(world, 'check', 'config.json');
    t.match(checked, { code: 0, stderr: '' }, `check: ${checked.stderr}`);
    t.match(checked.stdout, isSilent ? /^$/ : /\nThe configuration is valid\.\n$/);
    const wrong = await run(world, 'check', 'wrong.json');
    t.strictSame([wrong.code, wrong.stderr], [1, '']);
    t.match(wrong.stdout, isSilent ? /^$/ : /^error: \S+wrong\.json:1: log\.level: expected/);

    const port = String(await findFreePort());
    const doctor = await run(world, 'doctor', 'config.json', '--json', '--host', '127.0.0.1', '--port', port);
    t.match(doctor, { code: 0, stderr: '' }, `doctor: ${doctor.stderr}`);
    t.equal(doctor.stdout === '', isSilent);
    const rows = JSON.parse(doctor.stdout || '[]') as readonly Row[];
    for (const [subject, wanted] of Object.entries(place.rows))
      t.match(
        rows.find((row) => row.subject === subject),
        wanted,
        subject,
      );

    const refused = await run(world, 'run', 'wrong.json');
    t.strictSame([refused.code, refused.stdout], [1, '']);
    t.match(refused.stderr, texts('log.level: expected'));
    await checkRun(t, world);
  });
