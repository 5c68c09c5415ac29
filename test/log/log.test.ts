/** The log: forms of its lines, and their limits, because clients cause lines and must not fill a disk with them. */
import t from 'tap';
import { formatOf, isJournal, type LogEntry } from '#src/log/format.js';
import { createLog } from '#src/log/log.js';

function setUp(level: 'info' | 'debug' = 'info') {
  const lines: string[] = [];
  const clock = { nowMs: 5_000_000 };
  const later: { act: () => void; ms: number }[] = [];
  const log = createLog((line) => lines.push(line), level, {
    now: () => clock.nowMs,
    later: (act, ms) => later.push({ act, ms }),
  });
  return { log, lines, clock, later };
}

t.test('lines that no client caused: fifty of a kind per minute; other kinds continue', async (t) => {
  const { log, lines, clock, later } = setUp();
  for (let i = 0; i < 1000; i++) log.info(`media: ${i} was not done`);
  t.equal(lines.length, 50);
  t.equal(lines[49], 'hostwire info: media: 49 was not done\n');
  log.warn('power: sleep is forced');
  log.error('GET /one failed: x');
  t.equal(lines.length, 52, 'other kinds have room');
  for (let i = 0; i < 1000; i++) log.error(`GET /${i} failed: x`);
  t.equal(lines.length, 101, 'what clients write makes no kinds');
  t.equal(later.length, 1, 'one look at the end of the minute');
  t.equal(later[0]?.ms, 60_000);
  clock.nowMs += 60_000;
  later[0]?.act();
  t.equal(
    lines.at(-1),
    'hostwire warn: 1901 lines were left out within a minute, because there were too many; the first of media\n',
  );
  log.info('media: again');
  t.equal(lines.at(-1), 'hostwire info: media: again\n');
  clock.nowMs += 60_000;
  log.info('media: again');
  t.equal(lines.length, 104, 'nothing was left out of the last minute');
});

t.test('a client fills neither the log nor the share of others', async (t) => {
  const { log, lines } = setUp();
  const address = '192.0.2.7';
  for (let i = 0; i < 100; i++) log.audit(`power: sleep ${i}`, { address, keyed: false });
  t.equal(lines.length, 100, 'a hundred commands are complete');
  for (let kind = 0; kind < 20; kind++)
    for (let i = 0; i < 5000; i++)
      log.warn(`${'abcdefghijklmnopqrst'[kind]}: ${i} ${'x'.repeat(80)}`, { address });
  t.equal(lines.length, 105);
  log.info('media: of another one', { address: '192.0.2.8' });
  t.equal(lines.length, 106);
  for (let i = 0; i < 5000; i++) log.info('media: of many', { address: `192.0.2.${i}` });
  t.equal(lines.length, 200, 'all without the key together');
  t.ok(lines.join('').length < 64 * 1024);
  log.audit('power: sleep accepted', { address, keyed: true });
  log.warn('disks cannot be read');
  t.equal(lines.length, 202, 'not those with the key, and not the service itself');
});

t.test('lines over a limit are a tenth of it in each further minute', async (t) => {
  const { log, lines, clock } = setUp();
  const writtenIn = (count: number) => {
    const before = lines.length;
    for (let i = 0; i < count; i++) log.info(`media: ${i}`);
    return lines.slice(before).filter((line) => line.includes('media: ')).length;
  };
  t.equal(writtenIn(1000), 50);
  const perMinute: number[] = [];
  for (const count of [1000, 1000, 4, 1000]) {
    clock.nowMs += 60_000;
    perMinute.push(writtenIn(count));
  }
  t.strictSame(perMinute, [5, 5, 4, 6]);
  clock.nowMs += 600_000;
  t.equal(writtenIn(1000), 50, 'and all of it after ten minutes');
});

t.test('debug lines are complete', async (t) => {
  const { log, lines } = setUp('debug');
  for (let i = 0; i < 500; i++) log.debug(`power: ${i}`);
  t.equal(lines.length, 500);
});

t.test('levels; a notice is always written', async (t) => {
  const { log, lines } = setUp();
  log.setLevel('error');
  log.warn('no');
  log.audit('no');
  log.notice('listening');
  log.error('yes');
  t.strictSame(lines, ['hostwire info: listening\n', 'hostwire error: yes\n']);
});

t.test(
  'the audit trail in a file of its own, whatever the level; in the log where it cannot be written',
  async (t) => {
    const lines: string[] = [];
    const audited: string[] = [];
    let isWritable = true;
    const log = createLog((line) => lines.push(line), 'error', {
      auditTo: (line) => isWritable && audited.push(line) > 0,
    });
    log.audit('power: sleep accepted', { address: '::1', keyed: true });
    t.strictSame(audited, ['hostwire info: power: sleep accepted address=::1 keyed=true\n']);
    log.setLevel('info');
    isWritable = false;
    log.audit('power: sleep accepted');
    t.strictSame(lines, ['hostwire info: power: sleep accepted\n']);
  },
);

t.test('a line has its time unless the reader adds it, and its priority for journald', async (t) => {
  const entry: LogEntry = {
    level: 'warn',
    text: 'media: a\nb\u2028c\u001b[2J',
    fields: { address: '::1', keyed: false, count: 3, why: 'it "is" so', none: undefined, empty: '' },
  };
  const body = 'media: a b c?[2J address=::1 keyed=false count=3 why="it \\"is\\" so" empty=""\n';
  const place = { isJournal: false, hasTime: false };
  t.match(
    formatOf('text', place)(entry),
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z hostwire warn: media: a b c\?\[2J address=::1 /,
  );
  t.equal(formatOf('text', { ...place, hasTime: true })(entry), `hostwire warn: ${body}`);
  t.strictSame(
    (['error', 'warn', 'info', 'debug'] as const).map((level) =>
      formatOf('text', { ...place, isJournal: true })({ ...entry, level }),
    ),
    [`<3>${body}`, `<4>${body}`, `<6>${body}`, `<7>${body}`],
  );
  const json = formatOf('json', place)(entry);
  t.ok(json.endsWith('}\n'));
  t.match(JSON.parse(json), {
    time: /^\d{4}-\S+Z$/,
    level: 'warn',
    message: 'media: a b c?[2J',
    address: '::1',
    keyed: false,
    count: 3,
  });
  t.ok(isJournal({ JOURNAL_STREAM: '8:123' }, { dev: 8, ino: 123 }));
  t.notOk(isJournal({ JOURNAL_STREAM: '8:123' }, { dev: 8, ino: 12 }), 'of an unrelated service above it');
  t.notOk(isJournal({}, { dev: 8, ino: 123 }));
  t.notOk(isJournal({ JOURNAL_STREAM: '8:123' }, undefined));
});

t.test('two addresses that write many lines do not silence a third one', async (t) => {
  const { log, lines, clock } = setUp();
  for (let minute = 0; minute < 3; minute++) {
    for (let i = 0; i < 5000; i++)
      for (const address of ['192.0.2.1', '192.0.2.2']) log.info('access: wrong key', { address });
    for (let i = 0; i < 3; i++) log.audit(`media: play ${minute} ${i}`, { address: '192.0.2.3' });
    t.equal(lines.filter((line) => line.includes(`play ${minute} `)).length, 3);
    clock.nowMs += 60_000;
  }
});

t.test('an address of a /64 does not silence its neighbours, nor all others', async (t) => {
  const { log, lines } = setUp();
  for (let i = 0; i < 5000; i++) log.info('access: wrong key', { address: 'fe80::bad' });
  for (let i = 0; i < 5000; i++) log.info('access: wrong key', { address: `fe80::1:${i.toString(16)}` });
  for (const address of ['192.0.2.3', '192.0.2.4']) log.audit('media: play', { address });
  t.equal(lines.filter((line) => line.includes('play')).length, 2);
  const neighbours = setUp();
  for (let i = 0; i < 5000; i++) neighbours.log.info('access: wrong key', { address: 'fe80::bad' });
  for (let i = 0; i < 5000; i++) neighbours.log.info('access: wrong key', { address: '192.0.2.9' });
  for (let i = 0; i < 5; i++) neighbours.log.audit('media: play', { address: 'fe80::1' });
  t.equal(neighbours.lines.filter((line) => line.includes('play')).length, 5);
});
