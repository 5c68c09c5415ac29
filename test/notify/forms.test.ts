/** The bytes of each kind of target, and the signatures of webhooks by an implementation of their own. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import process from 'node:process';
import t from 'tap';
import type { TargetEntry } from '#src/config/rows/notify-rows.js';
import { type FormContext, formOf } from '#src/notify/forms.js';
import { messageOf, restOf, testMessage } from '#src/notify/message.js';
import { BEGIN, begins, down, ends } from './events.ts';

process.env['TZ'] = 'Europe/Berlin';

const disk = begins('disk-full disk.used_percent//srv/media', {
  severity: 'critical',
  text: 'Disk /srv/media is 91 % full, limit 90 %',
  processes: {
    cpu: [{ name: 'ff\u001bmpeg', count: 2, value: 93.24 }],
    memory: [{ name: 'firefox', count: 9, value: 2 ** 31 }],
    disk: null,
  },
});
const begin = messageOf('begin', disk, undefined, 'pc1');
const end = messageOf('end', disk, ends(disk, 125, { text: 'Disk /srv/media is 80 % full' }), 'pc1');
const was = messageOf('was', disk, ends(disk, 12), 'pc1');

const contextOf = (entry: Partial<TargetEntry>, link?: string): FormContext => ({
  name: 'phone',
  entry: { type: 'webhook', url: 'https://a.lan/x', min_severity: 'info', ...entry },
  link,
  now: BEGIN + 30,
});
const secret = (text: string) => ({ path: '/token', secret: text });
const LINK = 'http://pc1:9990';

const LABELS =
  '{"alertname":"disk-full","instance":"pc1","machine":"pc","kind":"rule","series":"disk.used_percent//srv/media","severity":"critical"}';
const WORDS = (text: string, details: string) => `{"summary":"${text}","description":"${details}"}`;
const CAUSE = 'Used most: ff?mpeg 93 % of the processor, firefox 2048 MiB of memory.';
const FULL = 'Disk /srv/media is 91 % full, limit 90 %';
const BEGAN = 'Began 2023-11-14 23:13:20.';
const ENDED = 'Began 2023-11-14 23:13:20, ended 2023-11-14 23:15:25, lasted 2 min 5 s.';

t.test(
  'alertmanager: one alert, its identity in the labels, and an end that is put off while it lasts',
  async (t) => {
    const context = contextOf(
      { type: 'alertmanager', url: 'http://am.lan/am/', token_file: secret('tk') },
      LINK,
    );
    t.same(formOf(begin, context), {
      url: 'http://am.lan/am/api/v2/alerts',
      headers: { 'Content-Type': 'application/json', Authorization: 'Bearer tk' },
      body: `[{"labels":${LABELS},"annotations":${WORDS(FULL, `${BEGAN}\\n${CAUSE}`)},"startsAt":"2023-11-14T22:13:20.000Z","endsAt":"2023-11-14T22:17:50.000Z","generatorURL":"${LINK}"}]`,
    });
    const [ended] = JSON.parse(formOf(end, context).body);
    t.equal(ended.endsAt, '2023-11-14T22:15:25.000Z');
    t.same(ended.labels, JSON.parse(LABELS), 'the labels of the beginning');
    for (const name of Object.keys(ended.labels)) t.match(name, /^[a-zA-Z_][a-zA-Z0-9_]*$/);
    t.notOk(Object.values(ended.labels).includes(''), 'no empty label, which it would drop');
  },
);

t.test('webhook: version 4 of Alertmanager', async (t) => {
  const { url, body, headers } = formOf(begin, contextOf({}, LINK));
  t.equal(url, 'https://a.lan/x');
  const annotations = WORDS(FULL, `${BEGAN}\\n${CAUSE}`);
  t.equal(
    body.replace(/"fingerprint":"[0-9a-f]{16}"/, '"fingerprint":"F"').replace(begin.sequence, 'S'),
    `{"version":"4","groupKey":"S","truncatedAlerts":0,"status":"firing","receiver":"phone","groupLabels":{"alertname":"disk-full"},"commonLabels":${LABELS},"commonAnnotations":${annotations},"externalURL":"${LINK}","alerts":[{"status":"firing","labels":${LABELS},"annotations":${annotations},"startsAt":"2023-11-14T22:13:20.000Z","endsAt":"0001-01-01T00:00:00Z","generatorURL":"${LINK}","fingerprint":"F"}]}`,
  );
  t.same(headers, {
    'Content-Type': 'application/json',
    'webhook-id': `msg_${begin.id}`,
    'webhook-timestamp': String(BEGIN + 30),
  });
  const ended = JSON.parse(formOf(end, contextOf({})).body);
  t.match(ended, {
    status: 'resolved',
    alerts: [{ status: 'resolved', endsAt: '2023-11-14T22:15:25.000Z' }],
  });
  t.equal(ended.alerts[0].fingerprint, JSON.parse(body).alerts[0].fingerprint);
});

/** The verification of the specification: any of the signatures, by any of the receiver's keys. */
function verify(key: string, headers: Readonly<Record<string, string>>, body: string): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const wanted = createHmac('sha256', Buffer.from(key.slice('whsec_'.length), 'base64'))
    .update(signed)
    .digest();
  return (headers['webhook-signature'] ?? '').split(' ').some((signature) => {
    const [version, text = ''] = signature.split(',');
    const found = Buffer.from(text, 'base64');
    return version === 'v1' && found.length === wanted.length && timingSafeEqual(found, wanted);
  });
}

t.test('webhook: each key signs, so that a receiver may have the old or the new one', async (t) => {
  const [old, next, other] = [1, 2, 3].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`);
  for (const text of [`${old}\n${next}`, `${old}\r\n${next}`]) {
    const { headers, body } = formOf(begin, contextOf({ key_file: secret(text) }));
    for (const key of [old, next]) t.ok(verify(key ?? '', headers, body));
    t.notOk(verify(other ?? '', headers, body));
    t.notOk(verify(old ?? '', headers, `${body} `));
  }
  // The example of the specification's libraries: this verifies as they do.
  const example = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  t.ok(verify('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', example, '{"test": 2432232314}'));
});

t.test('ntfy: the end replaces the beginning, and wakes nobody', async (t) => {
  const context = contextOf({ type: 'ntfy', url: 'https://ntfy.sh', topic: 'alerts' }, LINK);
  const sequence = `"sequence_id":"${begin.sequence}"`;
  t.same(formOf(begin, context), {
    url: 'https://ntfy.sh/',
    headers: { 'Content-Type': 'application/json' },
    body: `{"topic":"alerts","title":"pc1: critical","message":"${FULL}\\n${BEGAN}\\n${CAUSE}","priority":5,"tags":["rotating_light"],"click":"${LINK}",${sequence}}`,
  });
  t.equal(
    formOf(end, context).body,
    `{"topic":"alerts","title":"pc1: ended","message":"Disk /srv/media is 80 % full\\n${ENDED}\\n${CAUSE}","priority":3,"tags":["white_check_mark"],"click":"${LINK}",${sequence}}`,
  );
  t.match(JSON.parse(formOf(was, context).body), { title: 'pc1: was, 12 s', message: FULL });
  t.match(begin.sequence, /^[-_A-Za-z0-9]{1,64}$/, 'as ntfy accepts it');
  t.not(begin.id, end.id);
  const quiet = { type: 'ntfy', topic: 'a', priority: 1 } as const;
  t.equal(JSON.parse(formOf(begin, contextOf(quiet)).body).priority, 1);
  t.equal(JSON.parse(formOf(end, contextOf(quiet)).body).priority, 1);
});

t.test('gotify: the token in its header, and a link to open', async (t) => {
  const context = contextOf({ type: 'gotify', url: 'https://push.lan/', token_file: secret('tk') }, LINK);
  t.same(formOf(begin, context), {
    url: 'https://push.lan/message',
    headers: { 'Content-Type': 'application/json', 'X-Gotify-Key': 'tk' },
    body: `{"title":"pc1: critical","message":"${FULL}\\n${BEGAN}\\n${CAUSE}","priority":8,"extras":{"client::notification":{"click":{"url":"${LINK}"}}}}`,
  });
  t.notMatch(formOf(begin, { ...context, link: undefined }).body, 'extras');
});

t.test('every kind takes a test, a count of the rest, and a machine that is down', async (t) => {
  const messages = [
    testMessage('pc1', BEGIN),
    restOf({ began: 3, ended: 1 }, ['A is 1'], 'warning', 20, BEGIN),
    messageOf('begin', down(), undefined, 'pc1'),
  ];
  for (const type of ['alertmanager', 'webhook', 'ntfy', 'gotify'] as const)
    for (const message of messages)
      t.match(
        formOf(message, contextOf({ type, topic: 'a', token_file: secret('x') })).body,
        JSON.stringify(message.summary).slice(1, -1),
      );
  const [alert] = JSON.parse(formOf(testMessage('pc1', BEGIN), contextOf({ type: 'alertmanager' })).body);
  t.equal(Date.parse(alert.endsAt) - Date.parse(alert.startsAt), 90_000, 'a test ends by itself');
  t.equal(messageOf('begin', down(), undefined, 'pc1').labels['alertname'], 'machine_down');
});

t.test('an end before its beginning, as of a clock that was set, is at its beginning', async (t) => {
  t.equal(messageOf('end', disk, ends(disk, -100), 'pc1').end, BEGIN);
});
