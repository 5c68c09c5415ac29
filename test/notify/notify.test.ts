/** Targets and heartbeat as the configuration has them, with receivers on this machine; and the queue in its file. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { Config } from '#src/config/config.js';
import { LiveConfig } from '#src/config/current.js';
import { EXPORTERS } from '#src/exporters/exporters.js';
import { keptIn, keptParts } from '#src/notify/kept-file.js';
import { Notifications } from '#src/notify/notify.js';
import type { MachineEvent } from '#src/wire/events.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { configWith } from '../helpers/fakes/config-parts.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { until } from '../helpers/until.ts';
import { BEGIN, begins, ends, mutesOf } from './events.ts';
import { type Received, receive } from './receive.ts';

function notify(
  t: Test,
  config: Config,
  more: { check?: () => Promise<unknown>; open?: MachineEvent[] } = {},
) {
  const open = [...(more.open ?? [])];
  const mutes = mutesOf();
  const listeners = new Set<(event: MachineEvent) => void>();
  const clock = new FakeClock();
  const lines: string[] = [];
  const live = new LiveConfig(config);
  const line = (text: string) => void lines.push(text);
  const path = config.history.path && `${config.history.path}.notify`;
  const before =
    path !== undefined && existsSync(path) ? keptIn(readFileSync(path, 'utf8')) : { kept: new Map() };
  const notifications = new Notifications(
    {
      config: live,
      clock,
      log: {
        ...console,
        error: line,
        warn: line,
        info: line,
        debug: line,
        notice: line,
        audit: line,
        setLevel: line,
      },
      events: {
        onEvent: (listener) => {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
        open,
        mutes,
      },
      path,
      nameOf: () => 'pc1',
      link: () => undefined,
      check: more.check ?? (async () => undefined),
      unixMs: () => BEGIN * 1000,
    },
    before,
  );
  t.teardown(() => notifications.close());
  return {
    notifications,
    clock,
    lines,
    listeners,
    mutes,
    put: (event: MachineEvent) => {
      const at = open.findIndex(({ subject }) => subject === event.subject);
      if (event.state === 'end' && at >= 0) open.splice(at, 1);
      else if (event.state === 'begin') open.push(event);
      for (const listener of listeners) listener(event);
    },
    reload: (next: Config) => {
      live.replace(next);
      notifications.reconfigure();
    },
  };
}

const hook = (url: string) => ({ type: 'webhook', url, min_severity: 'info' }) as const;
const configOf = (
  targets: Config['notify']['targets'],
  more: Partial<Config['notify']> = {},
  history?: string,
) =>
  configWith({
    notify: { targets, batch_seconds: 0, ...more },
    ...(history !== undefined && { history: { path: history } }),
  });

t.test(
  'each target gets each event, and a target is added, changed and removed without a restart',
  async (t) => {
    const [one, two] = [await receive(t), await receive(t)];
    const first = begins('A');
    const rig = notify(t, configOf({ one: hook(one.url) }), { open: [first] });
    await rig.clock.advance(1);
    await until(() => one.received.length === 1);
    rig.put(begins('B'));
    await rig.clock.advance(1);
    await until(() => one.received.length === 2);
    // Both what is open and what comes next.
    rig.reload(configOf({ one: hook(one.url), two: hook(two.url) }));
    await rig.clock.advance(1);
    await until(() => two.received.length === 2);
    rig.put(ends(first));
    await rig.clock.advance(1);
    await until(() => one.received.length === 3 && two.received.length === 3);
    t.match(one.received[2]?.body, '"status":"resolved"');
    // A changed one has the outages that it had.
    rig.reload(configOf({ one: hook(`${one.url}/new`) }));
    rig.put(begins('C'));
    await rig.clock.advance(1);
    await until(() => one.received.at(-1)?.body.includes('"alertname":"C"'));
    t.equal(one.received.at(-1)?.url, '/new');
    t.equal(new Set(one.received.map(({ id }) => id)).size, 4, 'nothing else is new');
    t.equal(two.received.length, 3, 'one that was removed gets nothing');
    await rig.notifications.close();
    t.equal(rig.listeners.size, 0);
    t.equal(rig.clock.timers, 0, 'no timer is left');
  },
);

t.test('410 switches a webhook off until its configuration changes', async (t) => {
  const { received, url } = await receive(t, (count) => (count === 1 ? 410 : 200));
  const rig = notify(t, configOf({ a: hook(url) }));
  rig.put(begins('A'));
  await rig.clock.advance(1);
  await until(() => rig.lines.length === 1);
  rig.put(begins('B'));
  await rig.clock.advance(10_000);
  t.equal(received.length, 1);
  rig.reload(configOf({ a: hook(url) }));
  rig.put(begins('C'));
  await rig.clock.advance(10_000);
  t.equal(received.length, 1, 'a reload without a change');
  rig.reload(configOf({ a: hook(`${url}/new`) }));
  rig.put(begins('D'));
  await rig.clock.advance(1);
  await until(() => received.some((each) => each.url === '/new'), 'it is asked again');
  t.notMatch(rig.lines.join(), url);
});

t.test('the queue survives in a file of the owner, in one step, and nothing is sent twice', async (t) => {
  const folder = emptyFolder(t, 'notify');
  const file = path.join(folder, 'history.db');
  let isUp = false;
  const { received, url } = await receive(t, () => (isUp ? 200 : 503));
  const config = configOf({ a: hook(url) }, { max_per_hour: 10_000 }, file);
  const events = Array.from({ length: 20 }, (_, at) => begins(`E${at}`));
  const first = notify(t, config);
  for (const event of events) first.put(event);
  await first.clock.advance(1);
  await until(() => received.length === 1);
  // As a process that is killed: without a farewell.
  const text = await until(() => {
    const written = existsSync(`${file}.notify`) && readFileSync(`${file}.notify`, 'utf8');
    return written !== false && written.includes('E19') && written;
  });
  await first.notifications.close();
  writeFileSync(`${file}.notify`, text, { mode: 0o600 });
  isUp = true;
  received.length = 0;
  const next = notify(t, config, { open: events });
  await next.clock.advance(1);
  await until(() => received.length === 20);
  for (const event of events) next.put(ends(event));
  await next.clock.advance(1);
  await until(() => received.length === 40);
  t.equal(new Set(received.map(({ id }) => id)).size, 40);
  await next.notifications.close();
  const mode = statSync(`${file}.notify`).mode & 0o777;
  t.equal(mode, 0o600);
  t.same(readdirSync(folder), ['history.db.notify'], 'no other file is left');
  const last = notify(t, config);
  await last.clock.advance(10_000);
  t.equal(new Set(received.map(({ id }) => id)).size, 40, 'at most the one that was on its way, with its id');
});

t.test(
  '100 kills, with events and ends between them: each message has arrived, and no id is new twice',
  async (t) => {
    const file = path.join(emptyFolder(t, 'notify'), 'h');
    const { received, url } = await receive(t);
    const config = configOf({ a: hook(url) }, { max_per_hour: 10_000 }, file);
    let open: MachineEvent[] = [];
    for (let kill = 0; kill < 100; kill++) {
      const rig = notify(t, config, { open });
      const event = begins(`K${kill}`);
      rig.put(event);
      for (const each of open) rig.put(ends(each));
      open = [event];
      // Written before the process can be killed in the next turn but one.
      await until(
        () => existsSync(`${file}.notify`) && readFileSync(`${file}.notify`, 'utf8').includes(`K${kill}`),
      );
      if (kill % 2 === 0) await rig.clock.advance(1);
      const kept = readFileSync(`${file}.notify`);
      await rig.notifications.close();
      writeFileSync(`${file}.notify`, kept);
    }
    const rig = notify(t, config, { open });
    rig.put(ends(open[0] ?? begins('none')));
    for (let turn = 0; turn < 2000 && idsOf(received, 'resolved').size < 100; turn++)
      await rig.clock.advance(1);
    await until(() => idsOf(received, 'resolved').size === 100, 'every outage has ended');
    const firing = idsOf(received, 'firing');
    for (const [name, id] of firing) t.not(id, idsOf(received, 'resolved').get(name));
  },
);

/** The id of the last message of each alert. */
const idsOf = (received: readonly Received[], status: string) =>
  new Map(
    received
      .map(({ body, id }) => ({ ...JSON.parse(body), id }))
      .filter((message) => message.status === status)
      .map((message) => [String(message.groupLabels.alertname), String(message.id)]),
  );

t.test('a file that cannot be read or written is one line in the log, and nothing else', async (t) => {
  const folder = emptyFolder(t, 'notify');
  const file = path.join(folder, 'none/history.db');
  const { received, url } = await receive(t);
  const rig = notify(t, configOf({ a: hook(url) }, {}, file));
  for (const name of ['A', 'B']) rig.put(begins(name));
  await rig.clock.advance(1);
  await until(() => received.length === 2);
  await until(() => rig.lines.length > 0);
  t.same(rig.lines, [`${file}.notify: ENOENT; messages that wait do not survive a restart`]);
  const broken = path.join(folder, 'h');
  writeFileSync(`${broken}.notify`, '{"version":7}');
  t.match(notify(t, configOf({ a: hook(url) }, {}, broken)).lines, [/it is not a file of this version/]);
});

t.test('the heartbeat is requested while the service samples well', async (t) => {
  let failure: Error | undefined = undefined as Error | undefined;
  const { received, url } = await receive(t, (count) => (count === 3 ? 500 : 200));
  const heartbeat = { url: `${url}/ping/secret`, interval_seconds: 60 };
  const check = async () => {
    if (failure !== undefined) throw failure;
  };
  const rig = notify(t, configOf({}, { heartbeat }), { check });
  const beat = async () => {
    await until(() => rig.clock.timers === 1);
    await rig.clock.advance(60_000);
  };
  await until(() => received.length === 1);
  t.equal(received[0]?.url, '/ping/secret');
  await beat();
  await until(() => received.length === 2);
  await beat();
  await until(() => rig.lines.length === 1);
  await beat();
  await until(() => rig.lines.length === 2);
  failure = new Error('the memory of this machine cannot be read');
  await beat();
  await until(() => rig.lines.length === 3);
  t.equal(received.length, 4, 'none while it does not');
  t.same(rig.lines, [
    'notify.heartbeat: the answer is 500',
    'notify.heartbeat: works again',
    'notify.heartbeat: the memory of this machine cannot be read',
  ]);
  await until(() => rig.clock.timers === 1);
  rig.reload(configOf({}));
  t.equal(rig.clock.timers, 0, 'it ends with its configuration');
});

t.test('the file has the queues of all targets, whatever their lengths', async (t) => {
  const queueOf = (length: number) => ({
    outages: Array.from({ length }, (_, at) => ({
      begin: begins(`S${at}`),
      state: 'sent' as const,
      dueInMs: at,
    })),
    sentAgoMs: [1, 2],
    uncounted: 3,
  });
  for (const lengths of [[], [0], [1, 0, 300], [128, 256]]) {
    const queues = new Map(lengths.map((length, at) => [`"${at}`, queueOf(length)]));
    t.strictSame(keptIn([...keptParts(queues)].join('')), { kept: queues });
  }
});

t.test('without targets and without a heartbeat nothing is loaded', async (t) => {
  const row = EXPORTERS.find(({ name }) => name === 'notify');
  t.equal(row?.isWanted(configOf({})), false);
  t.equal(row?.isWanted(configOf({ a: hook('http://a') })), true);
  t.equal(row?.isWanted(configOf({}, { heartbeat: { url: 'http://a', interval_seconds: 60 } })), true);
});
