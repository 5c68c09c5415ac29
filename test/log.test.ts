/** The log's limit: clients cause lines, and must not fill a disk with them. */
import t from 'tap';
import { createLog } from '#src/log.js';

t.test('a hundred lines of a kind per minute, then a note and silence; other kinds go on', async (t) => {
  let nowMs = 5_000_000;
  const lines: string[] = [];
  const log = createLog(
    (line) => lines.push(line),
    'info',
    () => nowMs,
  );
  for (let i = 0; i < 1000; i++) log.info(`media: ${i} was not done`);
  t.equal(lines.length, 100);
  t.equal(lines[98], 'hostwire info: media: 98 was not done\n');
  t.equal(
    lines[99],
    'hostwire info: media: 99 was not done (further lines of this kind are left out for a minute)\n',
  );
  log.warn('power: sleep is forced');
  log.error('GET /one failed: x');
  t.equal(lines.length, 102, 'other kinds have room');
  for (let i = 0; i < 1000; i++) log.error(`GET /${i} failed: x`);
  t.equal(lines.length, 201, 'what clients write makes no kinds');
  nowMs += 59_999;
  log.info('media: no');
  t.equal(lines.length, 201);
  nowMs += 1;
  log.info('media: again');
  t.equal(lines.at(-1), 'hostwire info: media: again\n');
});

t.test('debug lines are complete', async (t) => {
  const lines: string[] = [];
  const log = createLog(
    (line) => lines.push(line),
    'debug',
    () => 0,
  );
  for (let i = 0; i < 500; i++) log.debug(`power: ${i}`);
  t.equal(lines.length, 500);
});
