/** `mqtt` and `host.id`: the values that are accepted, the authorities, and warnings. */
import t, { type Test } from 'tap';
import { makePair } from '../helpers/certificates.ts';
import { type Files, load, namedProblemsOf } from './loading.ts';

const { cert } = await makePair({ isIssuer: true });

/** The problems of a configuration in JSON, with the folder left out. */
const problemsOf = (t: Test, config: object, files: Files = {}) =>
  namedProblemsOf(t, { 'config.json': JSON.stringify(config), ...files });

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
