/** Users, rights and TLS of a real broker. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { makePair } from '../../../helpers/certificates.ts';
import { until } from '../../../helpers/until.ts';
import {
  AVAILABILITY,
  BASE,
  type Broker,
  commandTopic,
  DOCUMENT,
  FEEDBACK,
  mqttPart,
  NO_BROKER,
  startBeside,
  startBroker,
  Witness,
} from '../broker.ts';

const skip = NO_BROKER;
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
