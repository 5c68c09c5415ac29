/** Refusals in the log: once each, bounded, and one line per minute for many wrong keys. */
import t from 'tap';
import { RefusalLog, WrongKeyLog, WrongKeyPace } from '#src/access/refusals.js';
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
  flood(100, 2000, 3_599_999);
  t.equal(lines.length, 101);
  t.equal(lines[100], 'refused more than 100 different host names and origins; further ones are not logged');
  log.note(refusedHost('pc.example', '10.1.0.2'), 3_600_000);
  t.match(lines[101], /^refused the host name pc\.example/, 'names are logged again after an hour');
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

t.test('1.keys-wrong-log the first of an address immediately, then in growing intervals', async (t) => {
  const lines: string[] = [];
  const log = new WrongKeyLog({ log: (text, address) => lines.push(`${text} ${address}`) });
  const first = wrongKey('10.0.0.1');
  log.note(first, 0);
  t.strictSame(lines.splice(0), ['wrong key 10.0.0.1']);
  // One per second for four hours.
  const at: number[] = [];
  for (let seconds = 1; seconds <= 4 * 3600; seconds++) {
    log.note(first, seconds * 1000);
    if (lines.length > at.length) at.push(seconds / 60);
  }
  t.strictSame(at, [1, 11, 71, 131, 191]);
  t.equal(lines[0], '60 more wrong keys within 1 min 10.0.0.1');
  t.equal(lines[2], '3600 more wrong keys within 60 min 10.0.0.1');
  lines.length = 0;
  log.note(first, 4 * 60 * MINUTE + 119 * MINUTE);
  t.match(lines, [/^\d+ more wrong keys within/], 'it is known for two hours');
  log.note(first, 4 * 60 * MINUTE + 240 * MINUTE);
  t.equal(lines.at(-1), 'wrong key 10.0.0.1', 'then it begins anew');
});

t.test('1.keys-wrong-log only wrong keys count, each address separately', async (t) => {
  const lines: string[] = [];
  const log = new WrongKeyLog({ log: (text, address) => lines.push(`${text} ${address}`) });
  const missing = decide(WITH_KEY);
  const blocked = decide({ auth: { blocked_ips: ['0.0.0.0/0'] } });
  const allowed = decide({});
  for (let count = 0; count < 300; count++) {
    for (const decision of [missing, blocked, allowed]) log.note(decision, count);
    log.note(wrongKey(`10.0.0.${count % 4}`), count);
  }
  t.strictSame(
    lines,
    [0, 1, 2, 3].map((last) => `wrong key 10.0.0.${last}`),
  );
});

t.test('1.keys-wrong-log its memory is bounded: the address with the oldest line is forgotten', async (t) => {
  const lines: string[] = [];
  const log = new WrongKeyLog({ log: (_, address) => lines.push(address) });
  const address = (index: number) => wrongKey(`10.1.${index >> 8}.${index & 255}`);
  for (let index = 0; index < 1000; index++) log.note(address(index), index);
  t.equal(lines.length, 1000);
  log.note(address(0), 2000);
  t.equal(lines.length, 1000, 'a thousand addresses are known');
  log.note(address(1000), 2001);
  log.note(address(1), 2002);
  t.equal(lines.length, 1001, 'the second is');
  log.note(address(0), 2003);
  t.equal(lines.length, 1002, 'the first was forgotten');
});

t.test('1.keys-wrong-log a host that invents IPv6 addresses does not make others forgotten', async (t) => {
  const lines: string[] = [];
  const log = new WrongKeyLog({ log: (text, address) => lines.push(`${text} ${address}`) });
  log.note(wrongKey('10.0.0.1'), 0);
  for (let count = 0; count < 3000; count++) log.note(wrongKey(`2001:db8::${count.toString(16)}`), 1);
  t.equal(lines.length, 1 + 16 + 1, 'sixteen addresses, and their network');
  t.equal(lines.at(-1), 'wrong key 2001:db8:0:0::/64');
  log.note(wrongKey('10.0.0.1'), 2);
  t.equal(lines.length, 18, 'the other one is still known');
});

t.test('1.keys-wrong-log a flood is one line a minute, the last one when it is over', async (t) => {
  const lines: string[] = [];
  const later: { act: () => void; atMs: number }[] = [];
  let nowMs = 0;
  const log = new WrongKeyLog({
    log: (text, address) => lines.push(`${nowMs / 1000} s: ${text} ${address}`),
    later: (act, ms) => later.push({ act, atMs: nowMs + ms }),
  });
  const decision = wrongKey('10.0.0.1');
  const runTimers = () => {
    for (const { act, atMs } of later.splice(0)) {
      if (atMs <= nowMs) act();
      else later.push({ act, atMs });
    }
  };
  // 2,500 per second for 150 s.
  for (let count = 0; count < 2500 * 150; count++) {
    nowMs = (count / 2500) * 1000;
    runTimers();
    log.note(decision, nowMs);
  }
  t.equal(later.length, 1, 'one timer at a time');
  nowMs = 180_000;
  runTimers();
  nowMs = 1_000_000;
  runTimers();
  t.strictSame(lines, [
    '0 s: wrong key 10.0.0.1',
    '60 s: 150000 wrong keys in the last minute 10.0.0.1',
    '120 s: 150000 wrong keys in the last minute 10.0.0.1',
    '180 s: 75000 wrong keys in the last minute 10.0.0.1',
  ]);
});

t.test('1.keys-wrong-log many addresses of an IPv6 /64 are one event', async (t) => {
  const lines: string[] = [];
  const log = new WrongKeyLog({
    log: (text, address) => lines.push(`${text} ${address}`),
    later: () => undefined,
  });
  for (let count = 0; count <= 500; count++) log.note(wrongKey(`2001:db8::${count.toString(16)}`), count);
  log.note(wrongKey('2001:db8:0:1::1'), 501);
  log.note(wrongKey('2001:db8::ffff'), MINUTE + 100);
  t.strictSame(lines.slice(16), [
    'wrong key 2001:db8:0:0::/64',
    'wrong key 2001:db8:0:1::1',
    '485 wrong keys in the last minute 2001:db8:0:0::/64',
  ]);
});

t.test('1.keys-wrong-pace a hundred in a burst and ten a second, each network separately', async (t) => {
  const pace = new WrongKeyPace();
  const over = (address: string, nowMs: number, count: number) =>
    Array.from({ length: count }, () => pace.exceeds(wrongKey(address), nowMs)).filter((isOver) => isOver)
      .length;
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
  t.notOk(pace.exceeds(right, 60_000), 'a right key');
  t.notOk(pace.exceeds(decide(WITH_KEY, { remoteAddress: '10.0.0.1' }), 60_000), 'a missing key');
});

t.test(
  '1.keys-wrong-pace its memory is bounded: the network with the oldest wrong key is forgotten',
  async (t) => {
    const pace = new WrongKeyPace();
    const exceeds = (index: number) => pace.exceeds(wrongKey(`10.1.${index >> 8}.${index & 255}`), 0);
    for (let count = 0; count < 100; count++) exceeds(0);
    for (let index = 1; index < 1000; index++) exceeds(index);
    t.ok(exceeds(0), 'a thousand are known');
    for (let index = 1; index <= 1000; index++) exceeds(index);
    t.notOk(exceeds(0), 'then it begins anew');
  },
);
