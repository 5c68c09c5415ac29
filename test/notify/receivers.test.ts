/** Receivers that are slow, dead, hanging, or answer anything but 2xx; and the certificates of receivers. */
import { X509Certificate } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import t, { type Test } from 'tap';
import type { TargetEntry } from '#src/config/rows/notify-rows.js';
import { testMessage } from '#src/notify/message.js';
import { send } from '#src/notify/request.js';
import { attempt, judge, type Outcome } from '#src/notify/target.js';
import { pinOf } from '#src/tls/certificate.js';
import { makePair } from '../helpers/certificates.ts';
import { listen } from '../helpers/clients/listen.ts';
import { until } from '../helpers/until.ts';
import { BEGIN } from './events.ts';

const LIMIT_MS = 300;
const never = new AbortController().signal;

const serve = async (t: Test, handle: http.RequestListener) =>
  `http://127.0.0.1:${await listen(t, http.createServer(handle))}/`;

t.test('what is sent: one POST with its length, on a connection of its own', async (t) => {
  let seen: unknown;
  const url = await serve(t, (request, response) => {
    request.setEncoding('utf8').on('data', (text) => {
      const { 'content-length': length, 'x-a': a, connection, 'user-agent': agent } = request.headers;
      seen = [request.method, request.url, text, length, a, connection, agent];
    });
    request.on('end', () => response.end('taken'));
  });
  const answer = await send({ url, body: '{"ä":1}', headers: { 'X-A': 'b' } }, never);
  t.same(answer, { status: 200, retryAfter: undefined, body: 'taken' });
  t.same(seen, ['POST', '/', '{"ä":1}', '8', 'b', 'close', 'hostwire']);
});

t.test('redirects are not followed', async (t) => {
  let isFollowed = false;
  const other = await serve(t, (_, response) => {
    isFollowed = true;
    response.end();
  });
  for (const status of [301, 302, 307, 308]) {
    const url = await serve(t, (_, response) => response.writeHead(status, { Location: other }).end());
    t.equal((await send({ url, body: '{}' }, never)).status, status);
  }
  t.notOk(isFollowed);
});

t.test('the answer is read to 64 KiB', async (t) => {
  let isCut = false;
  const url = await serve(t, (_, response) => {
    const fill = () => {
      while (response.write('x'.repeat(16_384)));
    };
    response.on('drain', fill).on('close', () => {
      isCut = true;
    });
    fill();
  });
  t.equal((await send({ url }, never)).body.length, 65_536);
  await until(() => isCut, 'its connection is cut');
});

t.test('a hanging receiver is given up after the deadline, whatever hangs', async (t) => {
  const silent = await serve(t, () => undefined);
  const mute = `https://127.0.0.1:${await listen(t, net.createServer())}/`;
  for (const url of [silent, mute, mute.replace('https', 'http')])
    await t.rejects(send({ url, body: '{}' }, never, LIMIT_MS), { message: 'no answer in time' }, url);
  const body = await serve(t, (_, response) => void response.writeHead(200).write('half'));
  t.same(
    await send({ url: body }, never, LIMIT_MS),
    { status: 200, retryAfter: undefined, body: 'half' },
    'its status says that it was accepted',
  );
  const dripping = await serve(t, (_, response) => {
    const timer = setInterval(() => response.write('.'), 10);
    response.on('close', () => clearInterval(timer));
  });
  const { status } = await send({ url: dripping }, never, LIMIT_MS);
  t.equal(status, 200);
});

t.test('a request ends with its signal', async (t) => {
  const url = await serve(t, () => undefined);
  const abort = new AbortController();
  const sent = send({ url }, abort.signal);
  setTimeout(() => abort.abort(), 20);
  await t.rejects(sent);
});

t.test('what failed is said without the address', async (t) => {
  const server = net.createServer();
  const dead = await listen(t, server);
  await new Promise((resolve) => server.close(resolve));
  const garbage = await listen(
    t,
    net.createServer((socket) => void socket.end('SSH-2.0\r\n\r\n')),
  );
  const cut = await listen(
    t,
    net.createServer((socket) => void socket.destroy()),
  );
  const cases = [
    [`http://127.0.0.1:${dead}/secret`, /^connection refused$/],
    [`http://127.0.0.1:${garbage}/secret`, /^its answer is not HTTP$/],
    [`https://127.0.0.1:${garbage}/secret`, /^that port does not speak TLS; it may be plain HTTP$/],
    [`http://127.0.0.1:${cut}/secret`, /^(?:connection reset|the connection failed)/],
    ['http://no-such-host.invalid/secret', /^(?:unknown host name|its name cannot be looked up now)$/],
  ] as const;
  for (const [url, message] of cases) await t.rejects(send({ url, body: '{}' }, never), { message }, url);
});

t.test('certificates are checked with the authorities that Node knows, with ca, or by a pin', async (t) => {
  const issuer = await makePair({ name: 'authority', isIssuer: true });
  const pair = await makePair({ issuer });
  const other = await makePair();
  let requests = 0;
  const server = https.createServer({ cert: pair.cert, key: pair.key }, (_, response) => {
    requests++;
    response.end();
  });
  const url = `https://127.0.0.1:${await listen(t, server)}/`;
  await t.rejects(send({ url }, never), {
    message: /^its certificate is not accepted \(.*\); set its pin or ca$/,
  });
  await t.rejects(send({ url, ca: other.cert }, never), { message: /^its certificate is not accepted/ });
  await t.rejects(send({ url, pin: other.pin }, never), {
    message: /^its key has the pin sha256\/.*, which is not the one of the configuration$/,
  });
  t.equal(requests, 0, 'nothing was sent');
  t.equal(pinOf(new X509Certificate(pair.cert)), pair.pin);
  for (const trust of [{ ca: issuer.cert }, { pin: pair.pin }])
    t.equal((await send({ url, ...trust }, never)).status, 200);
});

t.test('answers, and what is done about them', async (t) => {
  const of = (status: number, retryAfter?: string, type: 'webhook' | 'ntfy' = 'webhook') =>
    judge({ status, retryAfter }, { entry: { type, min_severity: 'info' }, unixMs: () => BEGIN * 1000 });
  const rows: readonly (readonly [Outcome, Partial<Outcome>])[] = [
    [of(200), { kind: 'sent' }],
    [of(204), { kind: 'sent' }],
    [
      of(302),
      { kind: 'refused', reason: 'it answers with 302, a redirect, which is not followed; correct its url' },
    ],
    [of(400), { kind: 'refused', reason: 'it refuses a message (400)' }],
    [of(401), { kind: 'refused' }],
    [of(410), { kind: 'gone' }],
    [of(410, undefined, 'ntfy'), { kind: 'refused' }],
    [of(408), { kind: 'failed', pauseMs: 0 }],
    [of(429), { kind: 'failed', pauseMs: 0 }],
    [of(429, '120'), { kind: 'failed', pauseMs: 120_000 }],
    [of(503, new Date(BEGIN * 1000 + 90_000).toUTCString()), { kind: 'failed', pauseMs: 90_000 }],
    [of(429, '999999999'), { kind: 'failed', pauseMs: 3_600_000 }],
    [of(500, 'soon'), { kind: 'failed', pauseMs: 0, reason: 'it answers with 500' }],
    [of(101), { kind: 'refused' }],
  ];
  for (const [found, wanted] of rows) t.match(found, wanted);
});

/** An address of a receiver, and what becomes of a message to it. */
type Receiver = readonly [address: (t: Test) => Promise<string>, kind: Outcome['kind']];

const answering = (status: number, headers = {}): Receiver[0] => {
  return async (t) => await serve(t, (_, response) => response.writeHead(status, headers).end());
};

const RECEIVERS: Readonly<Record<string, Receiver>> = {
  'that is slow': [
    (t) => serve(t, (_, response) => void setTimeout(() => response.end('{}'), LIMIT_MS)),
    'sent',
  ],
  'that is dead': [async () => 'http://127.0.0.1:1/', 'failed'],
  'with 429': [answering(429, { 'Retry-After': '9' }), 'failed'],
  'with 500': [answering(500), 'failed'],
  'with a redirect': [answering(307, { Location: 'http://127.0.0.1:1/' }), 'refused'],
  'with a certificate of its own': [
    async (t) => {
      const { cert, key } = await makePair();
      return `https://127.0.0.1:${await listen(t, https.createServer({ cert, key }))}/`;
    },
    'failed',
  ],
  'with TLS that breaks off': [
    async (t) =>
      `https://127.0.0.1:${await listen(
        t,
        net.createServer((socket) => void socket.end()),
      )}/`,
    'failed',
  ],
  // Its status says that the message was taken.
  'with a body that hangs': [
    (t) => serve(t, (_, response) => void response.writeHead(200).write('{')),
    'sent',
  ],
  'that hangs': [(t) => serve(t, () => undefined), 'failed'],
};

const TARGETS: readonly Omit<TargetEntry, 'url' | 'min_severity'>[] = [
  { type: 'alertmanager' },
  { type: 'webhook', key_file: { path: '/k', secret: `whsec_${Buffer.alloc(32).toString('base64')}` } },
  { type: 'ntfy', topic: 'alerts' },
  { type: 'gotify', token_file: { path: '/t', secret: 'tk' } },
];

t.test(
  '[12.notify-receivers] what becomes of a message, by receiver, with every kind of target',
  async (t) => {
    // At once: two of them wait for the deadline.
    const outcomes = Object.entries(RECEIVERS).flatMap(([name, [address, kind]]) => {
      const url = address(t);
      return TARGETS.map(async (target) => {
        const entry: TargetEntry = { min_severity: 'info', ...target, url: await url };
        const options = { name: 'a', entry, link: () => undefined, unixMs: Date.now };
        const outcome = await attempt(testMessage('pc', BEGIN), options, new AbortController().signal);
        t.match(outcome, { kind }, `${target.type}, one ${name}: ${JSON.stringify(outcome)}`);
        t.notMatch(JSON.stringify(outcome), /127\.0\.0\.1|alerts|tk/, 'without address, topic and token');
      });
    });
    await Promise.all(outcomes);
  },
);

t.test('an attempt never rejects', async (t) => {
  const options = {
    name: 'a',
    entry: { type: 'webhook', url: 'http://127.0.0.1:1/secret', min_severity: 'info' },
    link: () => undefined,
    unixMs: () => BEGIN * 1000,
  } as const;
  const outcome = await attempt(testMessage('pc', BEGIN), options, never);
  t.same(outcome, { kind: 'failed', reason: 'connection refused', pauseMs: 0 });
});
