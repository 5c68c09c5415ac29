/** Single requests: the request that is sent, and the result of each kind of answer. */
import { getEventListeners } from 'node:events';
import t from 'tap';
import { request, requestIn } from '#src/client/rest.js';
import { settle } from '../helpers/fakes/clock.ts';
import { outcomeOf } from './socket-setup.ts';
import { surroundings } from './surroundings.ts';

const URL_OF_SERVICE = 'http://pc:9990/';

t.test('path, query, method, key and body are sent as they were given', async (t) => {
  for (const [path, options, seen] of [
    ['/api/usage?fields=cpu', {}, { href: 'http://pc:9990/api/usage?fields=cpu', method: 'GET' }],
    ['api/pw/sleep', { method: 'POST' }, { href: 'http://pc:9990/api/pw/sleep', method: 'POST' }],
    [
      '/api/media/control',
      { key: 'k', body: { action: 'play' } },
      { href: 'http://pc:9990/api/media/control', method: 'POST', body: { action: 'play' } },
    ],
  ] as const) {
    const { environment, asked } = surroundings();
    const promise = requestIn(path, { url: URL_OF_SERVICE, ...options }, environment);
    const [{ url: { href = '' } = {}, method, body, headers } = {}] = asked;
    t.match({ href, method, body }, seen);
    t.equal(headers?.get('authorization'), 'key' in options ? 'Bearer k' : null);
    t.equal(headers?.get('content-type'), 'body' in options ? 'application/json' : null);
    asked[0]?.answer(Response.json({ status: 'ok' }, { headers: { 'x-media-delivered': 'true' } }));
    const { data, headers: answered } = await promise;
    t.strictSame(data, { status: 'ok' });
    t.equal(answered.get('x-media-delivered'), 'true');
  }
  await t.rejects(request('/api/usage', { url: 'pc' }), TypeError);
});

t.test('an unsuccessful answer rejects with its code', async (t) => {
  for (const [response, error] of [
    [new Response(null, { status: 401 }), { code: 'unauthorized', status: 401 }],
    [new Response(null, { status: 403 }), { code: 'forbidden', status: 403 }],
    [
      new Response(null, { status: 403, headers: { 'x-error-code': 'feature_disabled' } }),
      { code: 'feature_disabled', status: 403, message: /^it is disabled/ },
    ],
    [
      new Response(null, {
        status: 403,
        headers: { 'x-error-code': 'scope_required', 'x-required-scope': 'power.sleep' },
      }),
      {
        code: 'scope_required',
        requiredScope: 'power.sleep',
        message: 'the key lacks a scope',
      },
    ],
    [
      Response.json(
        { error: 'Unknown action.', code: 'unknown_action', details: { allowed: ['play'] } },
        { status: 400 },
      ),
      {
        code: 'unknown_action',
        message: 'Unknown action.',
        status: 400,
        details: { allowed: ['play'] },
      },
    ],
    [new Response('<html>', { status: 502 }), { code: 'refused', status: 502 }],
    [new Response('null', { status: 500 }), { code: 'refused', status: 500 }],
    [new Response('<html>'), { code: 'bad_answer' }],
    [Response.json({}, { status: 503, headers: { 'retry-after': '2' } }), { retryAfterMs: 2000 }],
  ] as const) {
    const { environment, asked, clock } = surroundings();
    const promise = requestIn('/api/usage', { url: URL_OF_SERVICE }, environment);
    promise.catch(() => undefined);
    asked[0]?.answer(response);
    t.match(await outcomeOf(promise), { name: 'ClientError', ...error });
    t.equal(clock.timers, 0);
  }
});

t.test('no service, no answer in time, a signal: sent once, and nothing left behind', async (t) => {
  const controller = new AbortController();
  const { signal } = controller;
  const { environment, asked, clock } = surroundings();
  const ask = (options = {}) => {
    const promise = requestIn(
      '/api/pw/lock',
      { url: URL_OF_SERVICE, method: 'POST', ...options },
      environment,
    );
    promise.catch(() => undefined);
    return promise;
  };
  const failed = ask();
  asked[0]?.fail();
  t.match(await outcomeOf(failed), { code: 'unreachable', cause: { message: 'fetch failed' } });
  const late = ask({ signal });
  await clock.advance(9999);
  t.equal(await outcomeOf(late), 'pending');
  await clock.advance(1);
  t.match(await outcomeOf(late), { code: 'timeout' });
  const own = ask({ timeoutMs: 20 });
  await clock.advance(20);
  t.match(await outcomeOf(own), { code: 'timeout' });
  const aborted = ask({ signal });
  const reason = new Error('mine');
  controller.abort(reason);
  t.equal(await outcomeOf(aborted), reason);
  t.equal(asked.length, 4);
  t.equal(await outcomeOf(ask({ signal })), reason);
  t.equal(asked.length, 4, 'an aborted one is not sent');
  await settle();
  t.equal(clock.timers, 0);
  t.equal(getEventListeners(signal, 'abort').length, 0);
});
