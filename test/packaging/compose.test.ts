/** packaging/compose: what the compositions mount is in the tree, images are pinned, ports agree, no secret has a default. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { load, YAML11_SCHEMA } from 'js-yaml';
import t from 'tap';
import { readService } from './container/compose.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const FOLDER = path.join(ROOT, 'packaging/compose');

interface ComposeService {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly env_file?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: readonly string[];
}

interface Composition {
  readonly services: Readonly<Record<string, ComposeService>>;
}

/** A file of the user's own, of which the head of the file says what it is. */
const SECRET = /^\$\{HOSTWIRE_FILES:\?[^}]+\}\/([\w.]+)$/;
const text = (file: string) => readFileSync(path.join(FOLDER, file), 'utf8');
// With merge keys, which Compose takes.
const read = (name: string) => load(text(`${name}/compose.yaml`), { schema: YAML11_SCHEMA }) as Composition;

const NAMES = readdirSync(FOLDER);
t.same(NAMES.sort(), ['mosquitto', 'nats']);

for (const name of NAMES)
  t.test(`${name}: images, mounts, rights and secrets`, async (t) => {
    const { services } = read(name);
    const head = text(`${name}/compose.yaml`).split('\nservices:')[0] ?? '';
    for (const [id, service] of Object.entries(services)) {
      t.match(service.image, service.build ? /^hostwire$/ : /^docker\.io\/\w+\/[\w-]+:\d+\.\d+\.\d+$/, id);
      t.equal(service.user, `\${HOSTWIRE_USER:?UID:GID}`, 'nobody in particular, and without it no start');
      t.equal(service.read_only, true);
      t.same(service.cap_drop, ['ALL']);
      if (service.build) {
        const context = path.resolve(FOLDER, name, service.build.context);
        t.equal(context, ROOT);
        t.ok(statSync(path.join(context, service.build.dockerfile)).isFile());
      }
      for (const volume of [...(service.volumes ?? []), ...(service.env_file ?? [])]) {
        const source = volume.replace(/:\/[^:]+(?::ro)?$/, '');
        const secret = SECRET.exec(source)?.[1];
        if (secret === undefined) {
          t.ok(statSync(path.resolve(FOLDER, name, source)).isFile(), `${id}: ${source}`);
          t.match(volume, /:ro$/, 'and is not written');
        } else t.ok(head.includes(secret), `${id}: the head names ${secret}`);
      }
      for (const [key, value] of Object.entries(service.environment ?? {}))
        t.notMatch(key, /PASSWORD|KEY|SECRET|TOKEN/, `${id}: ${key}=${value}`);
      for (const other of service.depends_on ?? []) t.ok(services[other], other);
    }
  });

/** The port inside of each published one. */
const inside = (service: ComposeService | undefined) =>
  (service?.ports ?? []).map((port) => Number(port.split(':').at(-1)));

t.test('ports are those of the mounted files', async (t) => {
  const { services: small } = read('mosquitto');
  t.same(inside(small['mosquitto']), [8883]);
  t.match(text('../mqtt/mosquitto.conf'), /^listener 8883$/m);
  t.same(inside(small['hub']), [9980]);
  const { services } = read('nats');
  const published = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
  t.same(
    published.map(([id]) => id),
    ['haproxy'],
    'the others are behind it',
  );
  const proxy = text('nats/haproxy.cfg');
  for (const port of inside(services['haproxy'])) t.match(proxy, new RegExp(`^  bind :${port}\\b`, 'm'));
  for (const [, id = '', port] of proxy.matchAll(/^ {2}server \w+ (\w+):(\d+)/gm)) {
    const service = services[id];
    t.ok(service, id);
    const own = service?.environment?.['HOSTWIRE_SERVER_PORT'];
    if (own === undefined) t.match(text('../mqtt/nats-cluster.conf'), new RegExp(`:${port}"`));
    else t.equal(port, own, id);
  }
});

t.test('the mounted files of hubs and brokers name the mounted places', async (t) => {
  const placesOf = ({ volumes = [] }: ComposeService) =>
    volumes.map((volume) => /:(\/[^:]+)(?::ro)?$/.exec(volume)?.[1] ?? '');
  for (const name of NAMES) {
    const hubs = Object.values(read(name).services).filter(({ build }) => build !== undefined);
    t.ok(hubs.length > 0);
    for (const service of hubs) {
      const [own = ''] =
        service.volumes?.flatMap((volume) => /^\.\/(hub\d?\.yaml):/.exec(volume)?.[1] ?? []) ?? [];
      const { auth, hub } = load(text(`${name}/${own}`)) as {
        readonly auth: { readonly enabled: boolean; readonly api_key_file: string };
        readonly hub: {
          readonly brokers: Readonly<Record<string, { password_file: string; ca: string; url: string }>>;
        };
      };
      t.equal(auth.enabled, true);
      const brokers = Object.values(hub.brokers);
      for (const { url } of brokers) t.match(url, /^mqtts:/);
      const files = brokers.flatMap((each) => [each.password_file, each.ca]);
      for (const file of ['hub.yaml', auth.api_key_file, ...files])
        t.ok(placesOf(service).includes(`/etc/hostwire/${file}`), `${name}: ${file}`);
    }
  }
  const brokers = [
    ['mosquitto', 'mosquitto', 'mosquitto.conf', /(?:file) (\/\S+)$/gm],
    ['nats', 'nats1', 'nats-cluster.conf', /"(\/etc\/[^"]+)"/g],
  ] as const;
  for (const [name, id, file, pattern] of brokers) {
    const service = read(name).services[id];
    if (service === undefined) throw new Error(id);
    const named = [...text(`../mqtt/${file}`).matchAll(pattern)].map((match) => match[1] ?? '');
    t.ok(named.length > 2, file);
    for (const place of named) t.ok(placesOf(service).includes(place), `${id}: ${place}`);
  }
});

t.test('machines and hubs have the same rights in a cluster as at one nats-server', async (t) => {
  const subjectsIn = (file: string) => {
    const config = readFileSync(path.join(ROOT, 'packaging/mqtt', file), 'utf8');
    return [
      ...new Set([...config.matchAll(/"(hostwire\.[^"]+)"/g)].map(([, subject = '']) => subject)),
    ].sort();
  };
  const alone = subjectsIn('nats-users.conf').filter((subject) => !subject.startsWith('hostwire.nas.'));
  const cluster = subjectsIn('nats-cluster-users.conf').filter((subject) => !subject.endsWith('.hub2'));
  t.strictSame(cluster, alone);
  t.ok(alone.includes('hostwire.*.out.hub1'));
});

t.test('a container shows the name of the host, and its user may read the configuration', async (t) => {
  const file = readFileSync(path.join(ROOT, 'packaging/container/compose.yaml'), 'utf8');
  const image = /^USER (\d+:\d+)$/m.exec(
    readFileSync(path.join(ROOT, 'packaging/container/Dockerfile'), 'utf8'),
  )?.[1];
  for (const id of ['hostwire', 'control']) {
    const { uts, environment = {} } = readService(id);
    t.equal(uts, 'host', id);
    t.equal(environment['HOSTWIRE_HOST_NAME'], undefined, 'no variable of a shell, which may not export it');
  }
  const { user, volumes = [] } = readService('hostwire');
  t.equal(user, image, 'the user of the image where none is chosen');
  const [folder] = volumes.filter((volume) => volume.endsWith(':/etc/hostwire'));
  t.equal(
    folder,
    'configuration:/etc/hostwire',
    'not that of a service outside, which its user keeps closed',
  );
  const [uid, gid] = image?.split(':') ?? [];
  for (const text of [file, readFileSync(path.join(ROOT, 'docs/installing.md'), 'utf8')]) {
    t.match(text, new RegExp(`install -d -o ${uid} -g ${gid} -m 0700 /srv/hostwire$`, 'm'));
    t.match(
      text,
      new RegExp(`install -o ${uid} -g ${gid} -m 0600 packaging/config\\.yaml /srv/hostwire/$`, 'm'),
    );
  }
});
