/** The configurations of packaging/mqtt: the rights of machines and of hubs at the brokers. */
import t from 'tap';
import { shipped as fileOf } from '../../hub/cluster/shipped.ts';

const shipped = (name: string) => fileOf(`mqtt/${name}`);

t.test('[3.mqtt-hub-rights] the shipped configurations name the files of rights', async (t) => {
  t.match(shipped('mosquitto.conf'), /^acl_file .*hostwire\.acl$/m);
  t.match(shipped('nats.conf'), /^include "nats-users\.conf"$/m);
  for (const needed of [/^server_name:/m, /^jetstream/m, /^mqtt \{/m]) t.match(shipped('nats.conf'), needed);
});

/** Topic patterns that a user may publish to and subscribe to. */
interface Rights {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** Subjects are written with dots. */
const topicOf = (subject: string) => subject.replaceAll('.', '/').replaceAll('*', '+').replace(/>$/, '#');

/** The users of a file for nats-server. One without permissions may do everything. */
function natsUsers(file: string): ReadonlyMap<string, Rights> {
  const text = shipped(file).replaceAll(/^\s*#.*$/gm, '');
  const shared = [...text.matchAll(/^(\w+) = (\{[^}]*\})/gm)];
  const whole = shared.reduce((all, [, name = '', value = '']) => all.replaceAll(`$${name}`, value), text);
  const listIn = (user: string, kind: string) =>
    [
      ...(new RegExp(`${kind}: \\{ allow: \\[([^\\]]*)\\]`).exec(user)?.[1] ?? '">"').matchAll(/"([^"]+)"/g),
    ].map(([, subject = '']) => topicOf(subject));
  return new Map(
    whole
      .split(/\buser: /)
      .slice(1)
      .map((user) => [
        /^\w+/.exec(user)?.[0] ?? '',
        { publish: listIn(user, 'publish'), subscribe: listIn(user, 'subscribe') },
      ]),
  );
}

/** The rights of `user` in the file for mosquitto, whose patterns are those of every user. */
function mosquittoRights(user: string): Rights {
  const lines = shipped('mosquitto.acl').split('\n');
  const own = lines.slice(lines.indexOf(`user ${user}`) + 1);
  const isNamed = lines.includes(`user ${user}`);
  const of = (kind: 'read' | 'write') => [
    ...lines.flatMap((line) => new RegExp(`^pattern ${kind} (\\S+)`).exec(line)?.[1] ?? []),
    ...(isNamed ? own.flatMap((line) => new RegExp(`^topic ${kind} (\\S+)`).exec(line)?.[1] ?? []) : []),
  ];
  return {
    publish: of('write').map((topic) => topic.replace('%u', user)),
    subscribe: of('read').map((topic) => topic.replace('%u', user)),
  };
}

const ofMachine = (id: string, leaves: readonly string[]) => leaves.map((leaf) => `hostwire/${id}/${leaf}`);

function judge(
  t: { strictSame: (found: unknown, wanted: unknown) => void },
  user: string,
  rights: Rights,
): void {
  t.strictSame(rights.publish, ofMachine(user, ['status', 'out/+']));
  t.strictSame(rights.subscribe, ofMachine(user, ['in/+']));
}

t.test("[3.mqtt-hub-rights] a machine's user has its own topics, and is not a hub", async (t) => {
  judge(t, 'pc', mosquittoRights('pc'));
  for (const file of ['nats-users.conf', 'nats-cluster-users.conf']) {
    const users = natsUsers(file);
    const machines = [...users.keys()].filter((name) => !/^hub|^site$/.test(name));
    t.ok(machines.includes('pc'), file);
    for (const name of machines) judge(t, name, users.get(name) ?? { publish: [], subscribe: [] });
  }
});

t.test(
  '[3.mqtt-hub-rights] a hub reads the statuses of all machines, and has sessions with its own name',
  async (t) => {
    const users = [
      ['hub1', mosquittoRights('hub1')] as const,
      ...['nats-users.conf', 'nats-cluster-users.conf'].flatMap((file) =>
        [...natsUsers(file)].filter(([name]) => name.startsWith('hub')),
      ),
    ];
    t.equal(users.length, 4);
    for (const [name, { publish, subscribe }] of users) {
      // Of mosquitto also the patterns of every user.
      const ofHub = (topics: readonly string[]) => topics.filter((topic) => topic.startsWith('hostwire/+/'));
      t.strictSame(ofHub(subscribe), ofMachine('+', ['status', `out/${name}`]), name);
      t.strictSame(ofHub(publish), ofMachine('+', [`in/${name}`]), name);
    }
  },
);
