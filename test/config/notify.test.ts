/** `notify`: the targets that are accepted, and each mistake with its remedy. No message has a secret. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { checkConfiguration } from '#src/cli/check.js';
import { makePair } from '../helpers/certificates.ts';
import { type Files, load, makeFolder, namedProblemsOf, optionsFor, writeFiles } from './loading.ts';

const { cert, pin } = await makePair({ isIssuer: true });
const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const FILES: Files = { token: 'tk_secret\n', keys: `${KEY}\n${KEY}\n`, 'ca.pem': cert };

const problemsOf = (t: Test, notify: object, files: Files = FILES) =>
  namedProblemsOf(t, { 'config.json': JSON.stringify({ notify }), ...files });

const GOOD = {
  alertmanager: [
    { url: 'http://am.lan:9093' },
    { url: 'https://am.lan/prefix', token_file: 'token', ca: 'ca.pem', min_severity: 'info' },
  ],
  webhook: [{ url: 'https://hook.lan/a/b?c=d' }, { url: 'http://[::1]:1/', key_file: 'keys' }],
  ntfy: [{ url: 'https://ntfy.sh', topic: 'alerts_1', priority: 5, token_file: 'token', pin }],
  gotify: [{ url: 'https://push.lan', token_file: 'token', priority: 0 }],
};

t.test('[3.notify-targets] the targets that are accepted', async (t) => {
  for (const [type, entries] of Object.entries(GOOD))
    for (const entry of entries)
      t.same(problemsOf(t, { targets: { a: { type, ...entry } } }), [], JSON.stringify(entry));
});

const ntfy = { type: 'ntfy', url: 'https://ntfy.sh', topic: 'a' };
const webhook = { type: 'webhook', url: 'https://hook.lan/' };
const gotify = { type: 'gotify', url: 'https://push.lan', token_file: 'token' };
const am = { type: 'alertmanager', url: 'https://am.lan' };

const BAD: readonly (readonly [object, RegExp])[] = [
  [{ url: 'https://a' }, /^expected the key type, with the kind of the receiver$/],
  [{ type: 'mail', url: 'https://a' }, /^type expected "alertmanager", "webhook", "ntfy" or "gotify", found/],
  [{ type: 'webhook' }, /^expected the key url, with the address of the receiver$/],
  ...['ftp://a', 'https://', 'https://me:hunter2@a', 'https://a#b', 'https://a b', 'a', 5].map(
    (url) =>
      [{ ...webhook, url }, /^url expected http:\/\/HOST .* token_file, found .* \(not shown\)$/] as const,
  ),
  [{ ...am, url: 'https://a?b' }, /^the url of a server has no query; leave out/],
  [{ type: 'ntfy', url: 'https://a' }, /^ntfy needs topic; set it too$/],
  [{ ...ntfy, topic: 'a/b' }, /^topic expected 1 to 64 letters/],
  [{ ...webhook, topic: 'a' }, /^topic is used with ntfy only; leave it out$/],
  [{ type: 'gotify', url: 'https://a' }, /^gotify needs token_file, .*; set it too$/],
  [{ ...ntfy, key_file: 'keys' }, /^key_file is used with webhook only; a token belongs in token_file$/],
  [{ ...am, priority: 3 }, /^priority is used with ntfy and gotify only; leave it out$/],
  [{ ...ntfy, priority: 0 }, /^priority of ntfy is a whole number from 1 to 5; correct it$/],
  [{ ...gotify, priority: 11 }, /^priority expected a whole number from 0 to 10, found 11$/],
  [{ ...webhook, pin, ca: 'ca.pem' }, /^pin and ca contradict each other; leave one out$/],
  [{ ...webhook, url: 'http://a', pin }, /^pin is used with TLS only; write https:\/\/ in its url$/],
  [{ ...webhook, url: 'http://a', ca: 'ca.pem' }, /^ca is used with TLS only; write https:\/\/ in its url$/],
  [{ ...webhook, pin: 'sha256/x' }, /^pin expected a pin/],
  [{ ...webhook, min_severity: 'low' }, /^min_severity expected "info", "warning" or "critical"/],
  [
    { ...webhook, key_file: 'token' },
    /^key_file .*line 1: expected a key, whsec_ and the base64 of 24 to 64/,
  ],
  [{ ...webhook, token_file: 'keys' }, /^token_file .*expected 1 to 1024 printable ASCII characters/],
  [{ ...webhook, token_file: 'none' }, /^token_file .*/],
  [{ ...webhook, ca: 'token' }, /^ca .*contains no certificate in PEM form; name the certificate/],
];

t.test('[3.notify-mistakes] each mistake has its remedy, and no secret is in it', async (t) => {
  for (const [entry, wanted] of BAD) {
    const [problem = '', ...more] = problemsOf(t, { targets: { a: entry } });
    const text = problem.replace(/^config\.json:1 notify\.targets\.a[. ]/, '');
    t.match(text, wanted, JSON.stringify(entry));
    t.notMatch(problem, /hunter2|tk_secret/);
    t.same(more, []);
  }
  const keys = {
    batch_seconds: [-1, 3601, '30'],
    grace_seconds: [-1, 3601],
    max_per_hour: [1, 1.5, 10_001],
    heartbeat: [{ url: 'a' }, { interval_seconds: 9 }],
  };
  for (const [key, values] of Object.entries(keys))
    for (const value of values)
      t.match(problemsOf(t, { [key]: value }), [new RegExp(`^config.json:1 notify.${key}.* expected `)], key);
});

t.test('[3.notify-defaults] without anything nothing is sent', async (t) => {
  const { config, notices } = load(t, { 'config.json': '{}' });
  t.same(Object.keys(config.notify.targets), []);
  t.match(config.notify, { batch_seconds: 30, grace_seconds: 60, max_per_hour: 20 });
  t.same(config.notify.heartbeat, { url: undefined, interval_seconds: 60 });
  t.same(notices, []);
  const lonely = load(t, { 'config.json': '{"notify": {"heartbeat": {"interval_seconds": 30}}}' });
  t.match(lonely.notices, [
    {
      level: 'warn',
      text: /notify.heartbeat.url is not set, so nothing is requested; set notify.heartbeat.url/,
    },
  ]);
});

t.test('[3.notify-secrets] "hostwire check" shows the paths of files, and no address', async (t) => {
  const folder = makeFolder(t);
  const notify = {
    targets: {
      hook: { ...webhook, url: 'https://hook.lan/T0/secret', key_file: 'keys', ca: 'ca.pem' },
      push: gotify,
    },
    heartbeat: { url: 'https://hc.lan/ping/uuid' },
  };
  writeFiles(folder, { 'config.json': JSON.stringify({ notify }), ...FILES });
  for (const isJson of [false, true]) {
    const { text, exitCode } = checkConfiguration(optionsFor(folder), isJson);
    t.equal(exitCode, 0);
    t.notMatch(text, /T0|uuid|tk_secret|whsec|BEGIN/);
    for (const shown of ['keys', 'token', 'ca.pem']) t.ok(text.includes(path.join(folder, shown)), shown);
  }
  writeFileSync(path.join(folder, 'keys'), 'whsec_short');
  t.notMatch(checkConfiguration(optionsFor(folder)).text, /whsec_short/);
});
