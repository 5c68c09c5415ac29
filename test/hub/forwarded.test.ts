/** Commands and questions through the hub: what the machine's own service answers, and what it does. */
import t from 'tap';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { OPERATIONS } from '#src/wire/operations.js';
import { ADAPTER_CASES, type AdapterCase, httpRequestOf } from '../access/command-cases.ts';
import { ask, jsonOf, type RawAnswer, valuesOf } from '../helpers/clients/http.ts';
import { snapshotOf } from '../helpers/fakes/media.ts';
import { keyOf, keyWith } from '../helpers/keys.ts';
import { until } from '../helpers/until.ts';
import { allFlags, startCommanded } from './commanded.ts';
import { isUp, startHub } from './setup.ts';

t.setTimeout(280_000);

const ALL = { all: { commands: ['*'], labels: {} } };
const KEY = 'k'.repeat(40);
const FLAGS = Object.keys(DEFAULT_CONFIG.features) as (keyof typeof DEFAULT_CONFIG.features)[]; // All of its keys.

/** Returns the parts of an answer that a client sees, without its date. */
const shown = (answer: RawAnswer) => ({
  status: answer.status,
  type: valuesOf(answer, 'content-type'),
  code: valuesOf(answer, 'x-error-code'),
  delivered: valuesOf(answer, 'x-media-delivered'),
  // When an action is due.
  body: answer.body.toString().replaceAll(/"at":\d+/g, '"at":0'),
});

/** Sends a case to `/api/…` or `/api/hosts/a/…`. */
async function send(port: number, base: string, each: AdapterCase): Promise<RawAnswer> {
  const { target, ...request } = httpRequestOf(each);
  return await ask(port, `${base}${target}`, { ...request, headers: { 'Content-Type': 'application/json' } });
}

t.test('[I.hub.forwarded] every command with every flag: the same answer, and the same done', async (t) => {
  const machine = await startCommanded(t);
  const { service } = machine;
  const hub = await startHub(t, { a: { url: service.baseUrl } }, { hub: { commands: ALL } });
  await hub.host('a', isUp);
  const states = [
    allFlags(true),
    allFlags(false),
    DEFAULT_CONFIG.features,
    ...FLAGS.map((flag) => ({ ...allFlags(true), [flag]: false })),
  ];
  let outcomes = 0;
  let done = 0;
  for (const features of states) {
    machine.configure(features);
    const own: object[] = [];
    for (const each of ADAPTER_CASES) own.push(shown(await send(service.port, '/api', each)));
    const acts = machine.acts();
    const differences: object[] = [];
    for (const [i, each] of ADAPTER_CASES.entries()) {
      const found = shown(await send(hub.port, '/api/hosts/a', each));
      outcomes++;
      if (found.status === 200) done++;
      if (JSON.stringify(found) !== JSON.stringify(own[i]))
        differences.push({ command: each.command, params: each.params, own: own[i], found });
    }
    t.strictSame(differences, [], JSON.stringify(features));
    t.strictSame(machine.acts(), acts, 'it did the same');
  }
  t.ok(done > states.length, `${done} of ${outcomes} were done`);
});

t.test('[I.hub.forwarded] questions: the payloads of the service', async (t) => {
  const machine = await startCommanded(t, { history: { minutes: 60 } });
  const { service, media } = machine;
  const hub = await startHub(t, { a: { url: service.baseUrl } });
  await hub.host('a', isUp);
  const targets = [
    '/pw',
    '/media/status',
    '/media/status?detail=1',
    '/media/status?player=nobody',
    '/media/art',
    '/processes?grouped=0&limit=3&sort=name',
    '/processes?limit=0',
    '/processes?sort=size',
    '/processes?limit=2&limit=3',
    '/processes?query=%C3%A4%26x',
    '/processes/helper',
    '/processes/200',
    '/processes/no%20such%20one',
    '/processes/..',
    '/history?series=none&step=10&since=-60',
    '/history?series=a%2Cb&series=c',
    '/history?series=%2C&since=x',
    '/history?step=0',
    '/history/processes',
    '/history/processes?at=-1e300',
  ];
  /** Returns the answer without the values that change over time. */
  const still = (answer: RawAnswer) => {
    const { body, ...rest } = shown(answer);
    return {
      ...rest,
      body: body.replaceAll(/"(?:timestamp|at|from|until|since|cpu\w*|load)":[\d.e+-]+/g, '"x":0'),
    };
  };
  for (const features of [allFlags(true), allFlags(false)]) {
    machine.configure(features, { history: { minutes: 60 } });
    for (const target of targets) {
      const own = still(await ask(service.port, `/api${target}`));
      t.strictSame(still(await ask(hub.port, `/api/hosts/a${target}`)), own, target);
    }
  }
  machine.configure(allFlags(true), { history: { minutes: 60 } });
  // The hub reads the name, so it does that before the machine's flag.
  const odd = still(await ask(service.port, '/api/processes/%FF'));
  t.strictSame(still(await ask(hub.port, '/api/hosts/a/processes/%FF')), odd);
  media.snapshot = snapshotOf();
  const after = await ask(hub.port, '/api/hosts/a/media/status');
  t.strictSame(jsonOf(after), jsonOf(await ask(service.port, '/api/media/status')), 'nothing old is kept');
  const history = await ask(hub.port, '/api/hosts/a/history');
  const tag = valuesOf(history, 'etag')[0] ?? '';
  const again = await ask(hub.port, '/api/hosts/a/history', { headers: { 'If-None-Match': tag } });
  t.ok(again.status === 304 || valuesOf(again, 'etag')[0] !== tag, 'a known version is not sent again');
});

t.test('[I.hub.forwarded] bodies are refused as by the service', async (t) => {
  const { service } = await startCommanded(t);
  const hub = await startHub(t, { a: { url: service.baseUrl } }, { hub: { commands: ALL } });
  await hub.host('a', isUp);
  const bodies = [
    '',
    '{',
    '[]',
    '"x"',
    '{}',
    '{"action":5}',
    '{"action":"dance"}',
    '{"action":"../x"}',
    '{"action":"play"}',
  ];
  for (const { path, body } of [
    OPERATIONS.controlMedia,
    OPERATIONS.killProcess,
    OPERATIONS.launchProcess,
    OPERATIONS.wake,
  ])
    for (const text of [...bodies, `{"x":"${'y'.repeat(20_000)}"}`])
      for (const type of ['application/json', 'text/plain']) {
        const options = { method: 'POST', body: text, headers: { 'Content-Type': type } };
        const own = shown(await ask(service.port, path, options));
        const found = shown(await ask(hub.port, `/api/hosts/a${path.slice(4)}`, options));
        // The machine's table of commands names all of them, its path of media those of media.
        const isUnknown = [found, own].every((each) => each.body.includes('"unknown_action"'));
        const [given, wanted] = [found, own].map((each) => (isUnknown ? { ...each, body: '' } : each));
        t.strictSame(given, wanted, `${body} ${path} ${type} ${text.slice(0, 30)}`);
      }
});

t.test('[I.hub.audit] the audit trails of hub and machine name who asked', async (t) => {
  const auth = { enabled: true, keys: { desk: keyWith('desk', 'hub', 'read', 'media', 'power') } };
  const machine = await startCommanded(t, { auth });
  const config = { hub: { commands: ALL }, auth: { api_key: KEY } };
  const key_file = { path: 'k', secret: keyOf('desk') };
  const hub = await startHub(t, { a: { url: machine.service.baseUrl, key_file } }, config);
  await hub.host('a', isUp);
  const play = { method: 'POST', body: '{"action":"play"}', headers: { 'Content-Type': 'application/json' } };
  await ask(hub.port, '/api/hosts/a/media/control', play);
  const headers = { ...play.headers, Authorization: `Bearer ${KEY}` };
  await ask(hub.port, '/api/hosts/a/media/control', { ...play, headers });
  const lines = await until(() => (machine.audit().length >= 2 ? machine.audit() : undefined));
  t.match(lines[0], /media: play done .*address=127\.0\.0\.1 .*hub=desk/);
  t.notMatch(lines[0], 'key=default');
  t.match(lines[1], /address=127\.0\.0\.1 .*hub=desk key=default/);
  const own = hub.log.filter((line) => line.includes('media: play done'));
  t.match(own[0], /host=a address=127\.0\.0\.1 keyed=false/);
  t.match(own[1], /host=a address=127\.0\.0\.1 keyed=true key=default/);
  t.equal(own.length, 2);
  // What is scheduled: that it was accepted, and how it ended, on both ends.
  await ask(hub.port, '/api/hosts/a/pw/lock?delay=600', { method: 'POST', headers });
  await ask(hub.port, '/api/hosts/a/pw/cancel', { method: 'POST', headers });
  const trail = (all: readonly string[]) =>
    all.flatMap((line) => /power: (.*?) (?:host=a )?address/.exec(line)?.[1] ?? []);
  const wanted = ['cancel done', 'lock accepted', 'lock cancelled'];
  for (const lines of [() => hub.log, machine.audit])
    t.strictSame(
      (await until(() => (trail(lines()).length >= 3 ? trail(lines()) : undefined))).toSorted(),
      wanted,
    );
  // What no rule allows is refused before its body is read.
  const next = { hub: { commands: {} }, auth: { api_key: KEY } };
  hub.reconfigure({ a: { url: machine.service.baseUrl, key_file } }, next);
  await ask(hub.port, '/api/hosts/a/media/control', { ...play, headers });
  t.match(hub.log.at(-1), /media refused: command_not_allowed host=a .*keyed=true key=default/);
});
