/** Refusals in the log: once each, bounded, and one line per minute for many wrong keys. */
import t from 'tap';
import { RefusalLog, WrongKeyLog } from '#src/access/refusals.js';
import { decide, type RequestChange, WITH_KEY } from './setup.ts';

function refusedHost(host: string) {
  return decide({}, { headers: { host } });
}

t.test('1.step4-logged-once each refused name and origin', async (t) => {
  const lines: string[] = [];
  const log = new RefusalLog((text) => lines.push(text));
  for (let round = 0; round < 3; round++) {
    log.note(refusedHost('evil.com'));
    log.note(refusedHost('EVIL.com.:80'));
    log.note(decide({}, { method: 'POST', headers: { origin: 'https://evil.com' } }));
    log.note(refusedHost('localhost'));
    log.note(decide({}, { headers: { host: [] } }));
    log.note(decide(WITH_KEY));
    log.note(
      decide(
        {},
        { method: 'OPTIONS', headers: { origin: 'http://a.b', 'access-control-request-method': 'GET' } },
      ),
    );
  }
  t.equal(lines.length, 2);
  t.match(lines[0], /^refused the host name evil\.com; .*"allowed_hosts": \["evil\.com"\]/);
  t.match(
    lines[1],
    /^refused a web page from https:\/\/evil\.com; .*"cors_origins": \["https:\/\/evil\.com"\]/,
  );
});

t.test('1.step4-logged-once a flood of names fills neither the memory nor the log', async (t) => {
  const lines: string[] = [];
  const log = new RefusalLog((text) => lines.push(text));
  for (let count = 0; count < 100; count++) log.note(refusedHost(`a${count}.evil.com`));
  t.equal(lines.length, 100);
  log.note(refusedHost('a99.evil.com'));
  t.equal(lines.length, 100, 'one that is known');
  for (let count = 100; count < 5000; count++) log.note(refusedHost(`a${count}.evil.com`));
  t.equal(lines.length, 101);
  t.equal(lines[100], 'refused more than 100 different host names and origins; further ones are not logged');
});

function wrongKey(remoteAddress: string, change: RequestChange = {}) {
  return decide(WITH_KEY, { remoteAddress, headers: { authorization: 'Bearer wrong' }, ...change });
}

t.test('1.keys-wrong-log one line per minute and address, from the hundredth on', async (t) => {
  const lines: string[] = [];
  const log = new WrongKeyLog((text) => lines.push(text));
  const first = wrongKey('10.0.0.1');
  for (let count = 0; count < 99; count++) log.note(first, 1000 + count);
  t.same(lines, []);
  log.note(first, 1099);
  t.same(lines, ['100 wrong keys from 10.0.0.1 within a minute']);
  for (let count = 0; count < 1000; count++) log.note(first, 60_999);
  t.equal(lines.length, 1, 'not again within the minute');
  for (let count = 0; count < 99; count++) log.note(first, 61_000);
  t.equal(lines.length, 1, 'the next minute counts anew');
  log.note(first, 61_001);
  t.equal(lines.length, 2);
});

t.test('1.keys-wrong-log only wrong keys count, each address separately', async (t) => {
  const lines: string[] = [];
  const log = new WrongKeyLog((text) => lines.push(text));
  const missing = decide(WITH_KEY);
  const blocked = decide({ auth: { blocked_ips: ['0.0.0.0/0'] } });
  const allowed = decide({});
  for (let count = 0; count < 300; count++) {
    for (const decision of [missing, blocked, allowed]) log.note(decision, count);
    log.note(wrongKey(`10.0.0.${count % 4}`), count);
  }
  t.same(lines, []);
  for (let count = 0; count < 25; count++) log.note(wrongKey('10.0.0.1'), 400);
  t.same(lines, ['100 wrong keys from 10.0.0.1 within a minute']);
});

t.test('1.keys-wrong-log its memory is bounded: the oldest address is forgotten', async (t) => {
  const lines: string[] = [];
  const log = new WrongKeyLog((text) => lines.push(text));
  const address = (index: number) => wrongKey(`10.1.${index >> 8}.${index & 255}`);
  const hammer = (index: number, times: number, nowMs: number) => {
    for (let count = 0; count < times; count++) log.note(address(index), nowMs);
  };
  hammer(0, 99, 0);
  for (let index = 1; index < 1000; index++) hammer(index, 1, 1);
  hammer(0, 1, 2);
  t.equal(lines.length, 1, 'a thousand addresses are known');
  hammer(1, 98, 3);
  hammer(1000, 1, 3);
  hammer(1, 1, 4);
  t.equal(lines.length, 2, 'the first was forgotten, not the second');
  hammer(0, 1, 5);
  hammer(1, 99, 5);
  t.equal(lines.length, 2, 'now the second too, for the first came anew');
  hammer(1, 1, 5);
  t.equal(lines.length, 3);
});

t.test('1.keys-wrong-log a minute that starts again becomes the newest', async (t) => {
  const lines: string[] = [];
  const log = new WrongKeyLog((text) => lines.push(text));
  const address = (index: number) => wrongKey(`10.1.${index >> 8}.${index & 255}`);
  for (let index = 0; index < 1000; index++) log.note(address(index), 0);
  for (let count = 0; count < 99; count++) log.note(address(1), 60_000);
  for (const index of [1000, 1001, 1002]) log.note(address(index), 60_001);
  log.note(address(1), 60_002);
  t.equal(lines.length, 1, 'three older ones were forgotten for three new ones');
});
