/** A real broker: the messages to and from it, their times, its users, rights and TLS, and its death under load. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { makePair } from '../../../helpers/certificates.ts';
import { FakeClock } from '../../../helpers/fakes/clock.ts';
import { FAKE_EVENT, FakeHistory } from '../../../helpers/fakes/history.ts';
import { snapshotOf } from '../../../helpers/fakes/media.ts';
import { type ConfigPart, startService } from '../../../helpers/service/service.ts';
import { until } from '../../../helpers/until.ts';
import {
  AVAILABILITY,
  BASE,
  type Broker,
  commandTopic,
  DOCUMENT,
  FEEDBACK,
  feedbackIn,
  mqttPart,
  NO_BROKER,
  startBeside,
  startBroker,
  Witness,
} from '../broker.ts';
import { sufferDeaths } from '../deaths.ts';

const skip = NO_BROKER;
/** The service beside a broker, whose messages the witness hears. */
async function open(t: Test, more: ConfigPart = {}, how: Parameters<typeof startBeside>[2] = {}) {
  const broker = await startBroker(t);
  const witness = await Witness.open(t, broker.url);
  return { broker, witness, ...(await startBeside(t, { mqtt: mqttPart(broker.url), ...more }, how)) };
}

const parse = (text = '{}') => JSON.parse(text) as Readonly<Record<string, unknown>>;

t.test('[3.mqtt-publish] availability and the device are retained, readings are not', { skip }, async (t) => {
  const broker = await startBroker(t);
  const witness = await Witness.open(t, broker.url);
  const mqtt = mqttPart(broker.url, { interval_seconds: 1 });
  const { service } = await startBeside(t, { mqtt }, { isClosed: false });
  await witness.waitFor(AVAILABILITY, 'online');
  await until(() => witness.on(`${BASE}/state`).length >= 2, 'two readings');
  t.equal(parse(witness.on(`${BASE}/state`)[0])['memory_used_percent'], 75);
  t.match(parse(witness.on(`${BASE}/media`)[0]), { state: 'playing', title: 'A', volume: 50 });
  t.match(parse(witness.on(`${BASE}/power`)[0]), { pending: 'none' });
  t.match(parse(witness.on(DOCUMENT)[0]), {
    device: { identifiers: ['hostwire_pc'], name: 'fixture' },
    availability: [{ topic: AVAILABILITY }],
  });
  t.equal(witness.on(DOCUMENT).length, 1, 'the device is announced once, while it is the same');
  t.match(service.stderr(), `mqtt: connected to ${broker.url} (MQTT 5)`);
  const late = await Witness.open(t, broker.url);
  await late.waitFor(DOCUMENT, /./);
  const kept = late.heard.filter(({ isRetained }) => isRetained).map(({ topic }) => topic);
  t.same(kept.sort(), [AVAILABILITY, DOCUMENT].sort());
  await service.stop();
  await witness.waitFor(AVAILABILITY, 'offline');
  t.same(witness.on(AVAILABILITY), ['online', 'offline'], 'said once, by the service itself');
});

t.test(
  '[3.mqtt-change] media and power go out when they change; the cover with its track',
  { skip },
  async (t) => {
    const { witness, media } = await open(t);
    await witness.waitFor(`${BASE}/media`, /"A"/);
    await witness.waitFor(`${BASE}/power`, /none/);
    const [player] = media.snapshot.players;
    if (player === undefined) throw new Error('there is a player');
    media.change(snapshotOf({ ...player, title: 'B' }));
    await witness.waitFor(`${BASE}/media`, /"B"/);
    await until(() => witness.on(`${BASE}/art`).length === 2, 'a cover per track');
    await witness.say(commandTopic('power.sleep'), '{"delay": 3600}');
    await witness.waitFor(`${BASE}/power`, /"pending":"sleep"/);
    await witness.say(commandTopic('power.cancel'), 'PRESS');
    await until(() => /"none"/.test(witness.on(`${BASE}/power`).at(-1) ?? ''), 'nothing pending');
  },
);

t.test('[3.mqtt-event] events of watch rules go out as they are, and are not kept', { skip }, async (t) => {
  const broker = await startBroker(t);
  const witness = await Witness.open(t, broker.url);
  const history = new FakeHistory();
  const rules = { busy: { series: 'cpu.load', above: 90, for_seconds: 30 } };
  const config = { mqtt: mqttPart(broker.url), watch: { rules } };
  const { service } = await startBeside(t, config, { history });
  await witness.waitFor(`${BASE}/state`, /./);
  history.notify(FAKE_EVENT);
  history.notify({ ...FAKE_EVENT, state: 'end', value: null });
  await until(() => witness.on(`${BASE}/event`).length === 2, 'both');
  t.strictSame(witness.on(`${BASE}/event`).map(parse), [
    FAKE_EVENT,
    { ...FAKE_EVENT, state: 'end', value: null },
  ]);
  const late = await Witness.open(t, broker.url);
  await late.waitFor(DOCUMENT, /"watch_event":\{"platform":"event"/);
  t.strictSame(late.on(`${BASE}/event`), []);
  service.reconfigure({ ...config, host: { id: 'pc' }, watch: { defaults: false, rules: {} } });
  await witness.waitFor(DOCUMENT, /"watch_event":\{"platform":"event"\}/);
});

t.test(
  '[3.mqtt-commands] a command is judged by the table, and answered on the feedback topic',
  { skip },
  async (t) => {
    const { witness, media, service } = await open(t, { features: { enable_restart: false } });
    await witness.waitFor(`${BASE}/state`, /./);
    await witness.say(commandTopic('media.set_volume'), '{"value": 30, "id": "a"}');
    await witness.waitFor(FEEDBACK, /"done"/);
    t.match(media.controls, [{ verb: 'set_volume', value: 0.3 }]);
    t.match(feedbackIn(witness), [{ command: 'media.set_volume', id: 'a', stage: 'done', success: true }]);
    await witness.say(commandTopic('media'), '{"action": "mute"}');
    await until(() => feedbackIn(witness).length === 2, 'the topic of a group');
    t.equal(media.controls.length, 2);
    for (const [topic, payload, code] of [
      ['media.set_volume', '{"value": 101}', 'invalid_value'],
      ['media.set_volume', '{}', 'missing_field'],
      ['media.set_volume', 'loud', 'invalid_json'],
      ['media.set_volume', '[1]', 'invalid_body'],
      ['media', '{"action": "dance"}', 'unknown_action'],
      ['media', '{}', 'missing_field'],
      ['media.play', `{"x": "${'x'.repeat(65_536)}"}`, 'payload_too_large'],
      ['power', '{"action": "restart"}', 'feature_disabled'],
    ] as const) {
      const before = witness.on(FEEDBACK).length;
      await witness.say(commandTopic(topic), payload);
      await until(() => witness.on(FEEDBACK).length > before, `${topic} ${payload.slice(0, 50)}`);
      t.match(feedbackIn(witness).at(-1), { stage: 'refused', success: false, code }, `${topic} ${code}`);
    }
    await witness.say(commandTopic('power.restart'), '{}');
    await witness.say(commandTopic('power.sleep'), '{}');
    await witness.waitFor(FEEDBACK, /"power.sleep".*"done"/);
    const stages = feedbackIn(witness).filter(({ command }) => command === 'power.sleep');
    t.same(
      stages.map(({ stage }) => stage),
      ['accepted', 'running', 'done'].slice(0, stages.length),
    );
    t.notOk(
      feedbackIn(witness).some(({ command, stage }) => command === 'power.restart' && stage !== 'refused'),
      'a command whose flag is off has no topic',
    );
    const { recorded } = (await (await fetch(`${service.baseUrl}/api/pw`)).json()) as {
      recorded: { action: string }[];
    };
    t.same(
      recorded.map(({ action }) => action),
      ['sleep'],
    );
    t.match(service.stderr(), /media: set_volume done.*127\.0\.0\.1/, 'the audit trail names the broker');
  },
);

t.test('[3.mqtt-flags] topics of commands come and go with their flags', { skip }, async (t) => {
  const broker = await startBroker(t);
  const witness = await Witness.open(t, broker.url);
  const part = { mqtt: mqttPart(broker.url), host: { id: 'pc' } };
  const { service } = await startBeside(t, part);
  await witness.waitFor(DOCUMENT, /media_volume/);
  t.notMatch(witness.on(DOCUMENT).at(-1), /power_do_restart/);
  service.reconfigure({ ...part, features: { enable_restart: true, enable_media: false } });
  await witness.waitFor(DOCUMENT, /power_do_restart/);
  t.match(parse(witness.on(DOCUMENT).at(-1)), { components: { media_volume: { platform: 'number' } } });
  t.notMatch(witness.on(DOCUMENT).at(-1), /"command_topic":"[^"]*media/, 'only to remove it');
  await witness.say(commandTopic('media.next'), '{}');
  await witness.say(commandTopic('power.restart'), '{"delay": 100}');
  await witness.waitFor(FEEDBACK, /power.restart.*accepted/);
  t.notOk(feedbackIn(witness).some(({ command }) => command.startsWith('media')));
});

t.test('[3.mqtt-retained] a retained command is removed, and not done', { skip }, async (t) => {
  const broker = await startBroker(t);
  const witness = await Witness.open(t, broker.url);
  await witness.say(commandTopic('media.play'), '{}', { retain: true });
  await witness.say(commandTopic('power.sleep'), 'PRESS', { retain: true });
  const { media, service } = await startBeside(t, { mqtt: mqttPart(broker.url) });
  await until(() => feedbackIn(witness).length >= 2, 'both are ignored');
  t.ok(feedbackIn(witness).every(({ stage, code }) => stage === 'ignored' && code === 'retained'));
  await witness.waitFor(commandTopic('power.sleep'), '');
  await witness.waitFor(commandTopic('media.play'), '');
  const late = await Witness.open(t, broker.url);
  await late.waitFor(AVAILABILITY, 'online');
  t.notOk(
    late.heard.some(({ topic }) => topic.includes('/command/')),
    'the broker has none',
  );
  t.same(media.controls, []);
  t.match(service.stderr(), /a retained message on hostwire\/pc\/command\/media.play is not a command/);
  await witness.say(commandTopic('media.next'), '{}');
  await witness.waitFor(FEEDBACK, /media.next.*done/);
  t.equal(media.controls.length, 1, 'one that is not retained is done');
});

t.test(
  '[3.mqtt-retained] a retained command that arrives immediately is not done either',
  { skip },
  async (t) => {
    const { witness, media, service } = await open(t);
    await witness.waitFor(`${BASE}/state`, /./);
    for (const [count, name] of [
      [1, 'media.next'],
      [2, 'media.next'],
      [3, 'media'],
      [4, 'power.sleep'],
    ] as const) {
      await witness.say(commandTopic(name), '{"action": "next"}', { retain: true });
      await until(() => feedbackIn(witness).length === count, name);
      t.match(feedbackIn(witness).at(-1), { command: name, stage: 'ignored', code: 'retained' });
      await until(() => witness.on(commandTopic(name)).at(-1) === '', 'it is removed');
    }
    t.same(media.controls, []);
    const lines = service.stderr().match(/a retained message on \S*media.next is not a command/g);
    t.equal(lines?.length, 1, 'one line for two');
    await witness.say(commandTopic('media.next'), '{}');
    await witness.waitFor(FEEDBACK, /media.next.*done/);
    const count = witness.on(`${BASE}/state`).length;
    await witness.say('homeassistant/status', 'online', { retain: true });
    await until(
      () => witness.on(`${BASE}/state`).length > count,
      'a status that is kept counts when it is new',
    );
  },
);

t.test('[3.mqtt-birth] everything goes out again when Home Assistant starts', { skip }, async (t) => {
  const { witness } = await open(t);
  await witness.waitFor(`${BASE}/state`, /./);
  const count = (topic: string) => witness.on(topic).length;
  const topics = [DOCUMENT, `${BASE}/state`, `${BASE}/media`, `${BASE}/power`, `${BASE}/art`];
  await until(() => topics.every((topic) => count(topic) === 1), 'once');
  await witness.say('homeassistant/status', 'offline');
  await witness.say('homeassistant/status', 'online');
  await until(() => topics.every((topic) => count(topic) === 2), 'twice');
});

t.test('[3.mqtt-sleep] offline before the machine sleeps, online when it is awake', { skip }, async (t) => {
  const { witness, service } = await open(t);
  await witness.waitFor(`${BASE}/state`, /./);
  await fetch(`${service.baseUrl}/api/pw/sleep`, { method: 'POST' });
  await witness.waitFor(AVAILABILITY, 'offline');
  await until(() => witness.on(AVAILABILITY).length === 3, 'and again');
  t.same(witness.on(AVAILABILITY), ['online', 'offline', 'online']);
  t.notMatch(service.stderr(), /lost connection/, 'nothing was lost');
});

t.test('[3.mqtt-moved] another topic: the old device is removed', { skip }, async (t) => {
  const broker = await startBroker(t);
  const witness = await Witness.open(t, broker.url);
  const part = { host: { id: 'pc' } };
  const { service } = await startBeside(t, { ...part, mqtt: mqttPart(broker.url) });
  await witness.waitFor(DOCUMENT, /./);
  service.reconfigure({ ...part, mqtt: mqttPart(broker.url, { topic: 'home', discovery_prefix: '' }) });
  await witness.waitFor('home/pc/availability', 'online');
  t.equal(witness.on(DOCUMENT).at(-1), '');
  t.equal(witness.on(AVAILABILITY).at(-1), 'offline');
  await witness.waitFor('home/pc/state', /./);
  service.reconfigure({ ...part, mqtt: mqttPart(undefined) });
  await witness.waitFor('home/pc/availability', 'offline');
});

t.test('[3.mqtt-slept] commands that arrived while the machine slept are not done', { skip }, async (t) => {
  const clock = new FakeClock();
  const { witness, service, media } = await open(t, {}, { clock });
  const press = async () => await witness.say(commandTopic('media.next'), '{}');
  const advanceUntil = async (isTrue: () => boolean, what: string) =>
    await until(() => {
      void clock.advance(100);
      return isTrue();
    }, what);
  // Subscribed when one is done.
  await witness.waitFor(AVAILABILITY, 'online');
  await advanceUntil(() => {
    if (media.controls.length === 0) void press();
    return media.controls.length > 0;
  }, 'a command');
  await advanceUntil(() => /"done"/.test(witness.on(FEEDBACK).at(-1) ?? ''), 'its feedback');
  const before = media.controls.length;
  clock.suspend(5000);
  await press();
  await until(
    () => /lost connection to .* \(the machine has slept\)/.test(service.stderr()),
    'a new connection',
  );
  await advanceUntil(
    () => witness.on(AVAILABILITY).filter((text) => text === 'online').length === 2,
    'online',
  );
  t.equal(media.controls.length, before, 'it was not done');
});
const USERS = { pc: 'pc-password-1', home: 'home-password-1' };
const secretOf = (name: keyof typeof USERS) => ({ path: 'password', secret: USERS[name] });
const countIn = (text: string, pattern: RegExp) =>
  text.split('\n').filter((line) => pattern.test(line)).length;

/** The one of docs/mqtt.md: what the machine may do, and what Home Assistant may. */
const ACL = readFileSync(path.resolve(import.meta.dirname, '../../../../../../docs/mqtt.md'), 'utf8');
const exampleOf = (page: string) => /```acl\n([^`]+)```/.exec(page)?.[1] ?? '';

const startSecured = (t: Test, acl: string) =>
  startBroker(t, ['allow_anonymous false', 'password_file @/users', 'acl_file @/acl'], (broker: Broker) => {
    broker.users(USERS);
    broker.file('acl', acl);
  });

t.test('[3.mqtt-users] with a user and the rights of docs/mqtt.md everything works', { skip }, async (t) => {
  const broker = await startSecured(t, exampleOf(ACL));
  const home = { username: 'home', password: USERS.home };
  const witness = await Witness.open(t, broker.url, home);
  const mqtt = mqttPart(broker.url, { username: 'pc', password_file: secretOf('pc') });
  const { service, media } = await startBeside(t, { mqtt });
  await witness.waitFor(DOCUMENT, /./);
  await witness.waitFor(`${BASE}/state`, /./);
  await witness.say(commandTopic('media.next'), '{}');
  await witness.waitFor(FEEDBACK, /done/);
  t.equal(media.controls.length, 1);
  t.notMatch(service.stderr(), /refuses/);
  t.notMatch(service.stderr(), USERS.pc, 'no password in the log');
  t.notOk(
    witness.heard.some(({ topic, text }) => `${topic} ${text}`.includes(USERS.pc)),
    'nor in a message',
  );
});

t.test('[3.mqtt-refused] a wrong password is reported once, until it is right', { skip }, async (t) => {
  const broker = await startSecured(t, 'user pc\ntopic readwrite #\nuser home\ntopic readwrite #\n');
  const part = { host: { id: 'pc' } };
  const wrong = mqttPart(broker.url, {
    username: 'pc',
    password_file: { path: 'password', secret: 'wrong-1' },
  });
  const { service } = await startBeside(t, { ...part, mqtt: wrong });
  await until(() => /cannot connect to/.test(service.stderr()), 'a refusal');
  await new Promise((resolve) => setTimeout(resolve, 4000));
  t.equal(countIn(service.stderr(), /warn: mqtt:/), 1, 'one line for all attempts');
  t.match(
    service.stderr(),
    /mqtt: cannot connect to mqtt:\/\/127.0.0.1:\d+ \(Connection refused: Not authorized/,
  );
  t.notMatch(service.stderr(), /wrong-1/);
  service.reconfigure({ ...part, mqtt: { ...wrong, password_file: secretOf('pc') } });
  await until(() => /mqtt: connected/.test(service.stderr()), 'the right one');
});

t.test('[3.mqtt-acl] topics that the broker refuses are reported once each', { skip }, async (t) => {
  const acl = `user pc\ntopic readwrite ${AVAILABILITY}\ntopic write ${BASE}/state\nuser home\ntopic readwrite #\n`;
  const broker = await startSecured(t, acl);
  const witness = await Witness.open(t, broker.url, { username: 'home', password: USERS.home });
  const mqtt = mqttPart(broker.url, {
    username: 'pc',
    password_file: secretOf('pc'),
    interval_seconds: 1,
  });
  const { service, media } = await startBeside(t, { mqtt });
  await until(() => witness.on(`${BASE}/state`).length >= 3, 'what it may publish');
  await broker.kill('SIGTERM');
  await broker.start();
  await until(() => witness.on(AVAILABILITY).filter((text) => text === 'online').length >= 2, 'again');
  await until(() => witness.on(`${BASE}/state`).length >= 5, 'more readings');
  const lines = service.stderr();
  for (const topic of [`${BASE}/media`, `${BASE}/power`, `${BASE}/art`, DOCUMENT])
    t.equal(countIn(lines, new RegExp(`refuses .*${topic}[,:]`)), 1, topic);
  await witness.say(commandTopic('media.next'), '{}');
  t.same(media.controls, [], 'no command comes in');
});

t.test(
  '[3.mqtt-tls] the certificate of the broker is checked with the authorities that are configured',
  { skip },
  async (t) => {
    const [authority, other] = await Promise.all([
      makePair({ name: 'authority', isIssuer: true }),
      makePair({ name: 'other', isIssuer: true }),
    ]);
    const pair = await makePair({ name: 'localhost', issuer: authority });
    const broker = await startBroker(
      t,
      ['allow_anonymous true', 'cafile @/ca.pem', 'certfile @/cert.pem', 'keyfile @/key.pem'],
      (each) => {
        each.file('ca.pem', authority.cert);
        each.file('cert.pem', pair.cert);
        each.file('key.pem', pair.key);
      },
    );
    const url = (host: string) => `mqtts://${host}:${broker.port}`;
    const witness = await Witness.open(t, url('127.0.0.1'), { ca: authority.cert });
    const part = { host: { id: 'pc' } };
    const with_ = (host: string, pem: string | undefined) =>
      mqttPart(url(host), { ca: pem === undefined ? undefined : { path: 'ca.pem', pem } });
    const { service } = await startBeside(t, { ...part, mqtt: with_('127.0.0.1', undefined) });
    await until(
      () => /cannot connect to mqtts:.*(?:certificate|issuer)/.test(service.stderr()),
      'unknown to Node',
    );
    service.reconfigure({ ...part, mqtt: with_('127.0.0.1', other.cert) });
    await until(() => countIn(service.stderr(), /cannot connect to mqtts:/) >= 2, 'another authority');
    service.reconfigure({ ...part, mqtt: with_('127.0.0.2', authority.cert) });
    await until(() => countIn(service.stderr(), /cannot connect to mqtts:/) >= 3, 'another name');
    t.same(witness.on(AVAILABILITY), [], 'nothing was sent');
    for (const host of ['127.0.0.1', 'localhost']) {
      const before = witness.on(AVAILABILITY).length;
      service.reconfigure({ ...part, mqtt: with_(host, authority.cert) });
      await witness.waitFor(AVAILABILITY, 'online', before);
    }
  },
);

t.test('[3.mqtt-deaths] no command is done twice or late', { skip: NO_BROKER }, async (t) => {
  await sufferDeaths(t, 3, 1);
});

t.test('[3.mqtt-will] a crash is reported by the last will', { skip: NO_BROKER }, async (t) => {
  const broker = await startBroker(t);
  const witness = await Witness.open(t, broker.url);
  const { url, interval_seconds } = mqttPart(broker.url);
  // Only what a file has: absent keys are absent.
  const service = await startService({ config: { host: { id: 'pc' }, mqtt: { url, interval_seconds } } });
  await witness.waitFor(`${BASE}/state`, /./);
  await witness.say(commandTopic('media.set_volume'), '{"value": 101}');
  // The program has the exporter in a bundle of its own, which must know the errors of the service.
  await witness.waitFor(FEEDBACK, /"code":"invalid_value"/);
  await service.stop('SIGKILL');
  await witness.waitFor(AVAILABILITY, 'offline');
  t.same(witness.on(AVAILABILITY), ['online', 'offline']);
});
