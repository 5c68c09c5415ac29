/** Refusals in the log: once each, bounded, and a line in ten minutes for many wrong keys. */
import t from 'tap';
import { RefusalLog, WrongKeys } from '#src/access/refusals.js';
import { decide, KEY, type RequestChange, WITH_KEY } from './setup.ts';

function refusedHost(host: string, remoteAddress = '10.0.0.1') {
  return decide({}, { remoteAddress, headers: { host } });
}

t.test('1.step4-logged-once each refused name and origin', async (t) => {
  const lines: string[] = [];
  const log = new RefusalLog((text) => lines.push(text));
  for (let round = 0; round < 3; round++) {
    log.note(refusedHost('evil.com'), 0);
    log.note(refusedHost('EVIL.com.:80'), 0);
    log.note(decide({}, { method: 'POST', headers: { origin: 'https://evil.com' } }), 0);
    log.note(refusedHost('localhost'), 0);
    log.note(decide({}, { headers: { host: [] } }), 0);
    log.note(decide(WITH_KEY), 0);
    log.note(
      decide(
        {},
        { method: 'OPTIONS', headers: { origin: 'http://a.b', 'access-control-request-method': 'GET' } },
      ),
      0,
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
  const flood = (from: number, to: number, nowMs: number) => {
    for (let count = from; count < to; count++)
      log.note(refusedHost(`a${count}.evil.com`, `10.0.${Math.floor(count / 10)}.1`), nowMs);
  };
  flood(0, 100, 0);
  t.equal(lines.length, 100);
  log.note(refusedHost('a99.evil.com', '10.1.0.1'), 0);
  t.equal(lines.length, 100, 'one that is known');
  flood(100, 2000, 0);
  t.equal(lines.length, 100);
  log.note(refusedHost('pc.example', '10.1.0.2'), 60_000);
  t.match(lines[100], /^refused the host name pc\.example/, 'one in 36 s');
});

t.test('1.step4-logged-once the names that one address makes up do not hide those of another', async (t) => {
  const lines: string[] = [];
  const log = new RefusalLog((text) => lines.push(text));
  for (let count = 0; count < 5000; count++) log.note(refusedHost(`a${count}.evil.com`, 'fe80::bad%eth0'), 0);
  t.equal(lines.length, 10);
  for (let count = 0; count < 5000; count++)
    log.note(refusedHost(`b${count}.evil.com`, `fe80::${count.toString(16)}`), 0);
  t.equal(lines.length, 40, 'of a host that invents addresses');
  log.note(refusedHost('pc.example', '10.0.0.2'), 0);
  t.match(lines[40], /^refused the host name pc\.example/);
});

function wrongKey(remoteAddress: string, change: RequestChange = {}) {
  return decide(WITH_KEY, { remoteAddress, headers: { authorization: 'Bearer wrong' }, ...change });
}

const MINUTE = 60_000;

t.test('1.keys-wrong-log the first of an address immediately, then one line in ten minutes', async (t) => {
  const lines: string[] = [];
  const wrongKeys = new WrongKeys((text, address) => lines.push(`${text} ${address}`));
  const first = wrongKey('10.0.0.1');
  wrongKeys.exceeds(first, 0);
  t.strictSame(lines.splice(0), ['wrong key 10.0.0.1']);
  // One per second for an hour.
  for (let seconds = 1; seconds <= 3600; seconds++) wrongKeys.exceeds(first, seconds * 1000);
  t.strictSame(lines, Array(6).fill('600 more wrong keys 10.0.0.1'));
  wrongKeys.exceeds(first, 2 * 60 * MINUTE);
  t.equal(lines.at(-1), 'wrong key 10.0.0.1', 'then it begins anew');
});

t.test('1.keys-wrong-log only wrong keys count, each address separately', async (t) => {
  const lines: string[] = [];
  const wrongKeys = new WrongKeys((text, address) => lines.push(`${text} ${address}`));
  const missing = decide(WITH_KEY);
  const blocked = decide({ auth: { blocked_ips: ['0.0.0.0/0'] } });
  const allowed = decide({});
  for (let count = 0; count < 300; count++) {
    for (const decision of [missing, blocked, allowed]) t.notOk(wrongKeys.exceeds(decision, count));
    wrongKeys.exceeds(wrongKey(`10.0.0.${count % 4}`), count);
  }
  t.strictSame(
    lines,
    [0, 1, 2, 3].map((last) => `wrong key 10.0.0.${last}`),
  );
});

t.test('1.keys-wrong-log many addresses of an IPv6 /64 are one event', async (t) => {
  const lines: string[] = [];
  const wrongKeys = new WrongKeys((text, address) => lines.push(`${text} ${address}`));
  wrongKeys.exceeds(wrongKey('10.0.0.1'), 0);
  for (let count = 0; count < 3000; count++)
    wrongKeys.exceeds(wrongKey(`2001:db8::${count.toString(16)}`), count);
  wrongKeys.exceeds(wrongKey('2001:db8:0:1::1'), 3000);
  wrongKeys.exceeds(wrongKey('2001:db8::ffff'), 10 * MINUTE);
  t.strictSame(lines, [
    'wrong key 10.0.0.1',
    'wrong key 2001:db8::',
    'wrong key 2001:db8:0:1::1',
    '3000 more wrong keys 2001:db8::ffff',
  ]);
});

t.test('1.keys-wrong-pace a hundred in a burst and ten a second, each network separately', async (t) => {
  const wrongKeys = new WrongKeys(() => undefined);
  const over = (address: string, nowMs: number, count: number) =>
    Array.from({ length: count }, () => wrongKeys.exceeds(wrongKey(address), nowMs)).filter(
      (isOver) => isOver,
    ).length;
  t.equal(over('10.0.0.1', 0, 100), 0);
  t.equal(over('10.0.0.1', 0, 50), 50);
  t.equal(over('10.0.0.2', 0, 100), 0, 'another address notices nothing');
  t.equal(over('10.0.0.1', 1000, 30), 20);
  t.equal(over('10.0.0.1', 1050, 1), 1);
  t.equal(over('10.0.0.1', 1100, 1), 0, 'what was refused is not counted');
  t.equal(over('10.0.0.1', 60_000, 101), 1);
  t.equal(over('2001:db8::1', 0, 100) + over('2001:db8::2', 0, 10), 10, 'a /64 is one network');
  const right = decide(WITH_KEY, { remoteAddress: '10.0.0.1', headers: { authorization: `Bearer ${KEY}` } });
  t.ok(right.isAllowed);
  t.notOk(wrongKeys.exceeds(right, 60_000), 'a right key');
  t.notOk(wrongKeys.exceeds(decide(WITH_KEY, { remoteAddress: '10.0.0.1' }), 60_000), 'a missing key');
});
