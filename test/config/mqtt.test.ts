/** `mqtt` and `host.id`: the values that are accepted, the authorities, and warnings. */
import t, { type Test } from 'tap';
import { makePair } from '../helpers/certificates.ts';
import { type Files, load, namedProblemsOf } from './loading.ts';

const { cert } = await makePair({ isIssuer: true });

/** The problems of a configuration in JSON, with the folder left out. */
const problemsOf = (t: Test, config: object, files: Files = {}) =>
  namedProblemsOf(t, { 'config.json': JSON.stringify(config), ...files });

t.test('[3.mqtt-keys] the values that are taken', async (t) => {
  const good = {
    url: [
      'mqtt://broker',
      'mqtt://10.0.0.1:1',
      'mqtts://broker.lan:8883/',
      'mqtt://[::1]:65535',
      'mqtts://a-b',
    ],
    username: ['x', 'two words', 'é'],
    client_id: ['hostwire', 'a/b'],
    topic: ['hostwire', 'home/pc-1/x.y_z'],
    discovery_prefix: ['', 'homeassistant', 'a/b'],
    interval_seconds: [1, 1.5, 86_400],
  };
  const bad = {
    url: [
      ...[
        'broker',
        'http://broker',
        'mqtt://',
        'mqtt://a:0',
        'mqtt://a:65536',
        'mqtt://a/b',
        'mqtt://a?b',
        'ws://a',
      ],
      ...['mqtt://user@a', 'mqtt://user:pass@a', 'mqtt://a b', 'mqtt://[1]', 'MQTT://a', 'mqtt://-a', 5, ''],
    ],
    username: ['', ' x', 'x ', 'a\nb', 'a\0b', 'x'.repeat(257), 5],
    client_id: ['', 'a\tb'],
    topic: ['', '/a', 'a/', 'a//b', 'a/+', '#', '$SYS', 'a b', 'x'.repeat(129)],
    discovery_prefix: ['/', 'a/#', ' '],
    interval_seconds: [0, 0.5, 86_401, '15'],
  };
  for (const [key, values] of Object.entries(good))
    for (const value of values)
      t.same(problemsOf(t, { mqtt: { [key]: value } }), [], `${key} ${JSON.stringify(value)}`);
  for (const [key, values] of Object.entries(bad))
    for (const value of values)
      t.match(
        problemsOf(t, { mqtt: { [key]: value } }),
        [new RegExp(`^config.json:1 mqtt.${key} expected `)],
        `${key} ${JSON.stringify(value)}`,
      );
  for (const id of ['pc', 'A-b_9']) t.same(problemsOf(t, { host: { id } }), []);
  for (const id of ['', 'a.b', 'a/b', 'é', 'x'.repeat(65)])
    t.equal(problemsOf(t, { host: { id } }).length, 1, id);
});

t.test('[3.mqtt-credentials] a password in the URL is refused, and not shown', async (t) => {
  const [problem = '', ...more] = problemsOf(t, { mqtt: { url: 'mqtt://me:hunter2@broker' } });
  t.match(problem, 'user and password belong in mqtt.username and mqtt.password_file');
  t.notMatch(problem, 'hunter2');
  t.same(more, []);
});

t.test('[3.mqtt-password-refused] a password needs its user', async (t) => {
  const mqtt = { url: 'mqtt://localhost', password_file: 'password' };
  t.same(problemsOf(t, { mqtt }, { password: 'x' }), [
    'config.json:1 mqtt.password_file needs mqtt.username; set it too',
  ]);
});

t.test('[3.mqtt-ca] authorities are read from a PEM file, and only for TLS', async (t) => {
  const of = (mqtt: object, ca: string) =>
    problemsOf(t, { mqtt: { ca: 'ca.pem', ...mqtt } }, { 'ca.pem': ca });
  t.same(of({ url: 'mqtts://broker' }, cert), []);
  t.same(of({ url: 'mqtt://broker' }, cert), [
    'config.json:1 mqtt.ca is used with TLS only; write mqtts:// in mqtt.url, or leave it out',
  ]);
  const why = 'config.json:1 mqtt.ca ca.pem:';
  t.same(of({}, 'x'), [`${why} contains no certificate in PEM form; name the certificate of the authority`]);
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  t.same(of({}, `${cert}\n${broken}`), [
    `${why} certificate 2 in it cannot be read; name the certificate of the authority`,
  ]);
});

t.test('[3.mqtt-plain] a password without TLS is warned of, but not on this machine', async (t) => {
  const noticesOf = (url: string) =>
    load(t, {
      'config.json': JSON.stringify({ mqtt: { url, username: 'pc', password_file: 'password' } }),
      password: 'x',
    }).notices;
  t.match(noticesOf('mqtt://broker.lan'), [{ level: 'warn', text: /unencrypted; use mqtts:/ }]);
  for (const url of ['mqtts://broker.lan', 'mqtt://localhost', 'mqtt://127.0.0.1:1883', 'mqtt://[::1]'])
    t.same(noticesOf(url), [], url);
});
