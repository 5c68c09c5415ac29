/** The file with the last uses of keys: when it is written, what is in it, and files that cannot be used. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { KeyUses } from '#src/access/key-uses.js';
import { formatUses, KeyUseFile, keyUsesPathOf, parseUses } from '#src/history/key-use-file.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { PATIENCE_MS } from '../helpers/limits.ts';
import { until } from '../helpers/until.ts';

const START_MS = 1_700_000_000_000;
const MINUTE_MS = 60_000;

function create(t: Test) {
  const folder = t.testdir();
  const file = keyUsesPathOf(path.join(folder, 'history.db'));
  const lines: string[] = [];
  const log = {
    warn: (text: string) => lines.push(`warn ${text}`),
    error: (text: string) => lines.push(`error ${text}`),
    info: (text: string) => lines.push(`info ${text}`),
  };
  const start = (...names: readonly string[]) => {
    const clock = new FakeClock();
    const uses = new KeyUses(() => START_MS + clock.now());
    uses.reconfigure(names);
    return {
      clock,
      uses,
      stored: new KeyUseFile({ path: file, uses, clock, log, closeLimitMs: PATIENCE_MS }),
    };
  };
  return { folder, file, lines, start };
}

const keysIn = (file: string) => JSON.parse(readFileSync(file, 'utf8')).keys;

t.test('[10.keys-uses-disk] it is written after a minute, and read at the next start', async (t) => {
  const { folder, file, lines, start } = create(t);
  const { clock, uses, stored } = start('phone', 'tv');
  await clock.advance(MINUTE_MS);
  t.notOk(existsSync(file), 'nothing was used');
  uses.note('phone', '10.0.0.1');
  await clock.advance(MINUTE_MS - 1);
  t.notOk(existsSync(file), 'less than a minute');
  await clock.advance(1);
  await until(() => existsSync(file));
  t.strictSame(keysIn(file), { phone: { at: (START_MS + 61_000) / 1000, address: '10.0.0.1' } });
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.ok(await stored.close());
  t.equal(clock.timers, 0);
  t.strictSame(readdirSync(folder), ['history.db.key-uses.json'], 'and nothing else');

  const next = start('phone');
  await until(() => next.uses.of('phone'));
  t.strictSame(next.uses.of('phone'), { atMs: START_MS + 61_000, address: '10.0.0.1', open: 0 });
  t.equal(next.uses.sinceMs, START_MS + 1000, 'when the first run began');
  t.ok(await next.stored.close());
  t.strictSame(lines, []);
});

t.test('[10.keys-uses-disk] what is new is written at the end, and only then', async (t) => {
  const { file, start } = create(t);
  const { uses, stored } = start('phone');
  uses.note('phone', '2001:db8::1');
  t.ok(await stored.close());
  t.strictSame(keysIn(file), { phone: { at: (START_MS + 1000) / 1000, address: '2001:db8::1' } });
  const { mtimeNs } = statSync(file, { bigint: true });
  t.ok(await start('phone').stored.close());
  t.equal(statSync(file, { bigint: true }).mtimeNs, mtimeNs, 'nothing is new');
  t.ok(await start('tv').stored.close());
  t.strictSame(keysIn(file), {}, 'a key that was removed while the service did not run is forgotten');
});

t.test('[10.keys-uses-disk] it has names, times and addresses only', async (t) => {
  const text = formatUses({ sinceMs: 5000, uses: new Map([['phone', { atMs: 7999, address: '10.0.0.1' }]]) });
  t.equal(
    text,
    '{"format":"hostwire key uses 1","since":5,"keys":{"phone":{"at":7,"address":"10.0.0.1"}}}\n',
  );
  t.strictSame(parseUses(text), {
    sinceMs: 5000,
    uses: new Map([['phone', { atMs: 7000, address: '10.0.0.1' }]]),
  });
});

const UNUSABLE = [
  '',
  '{"format":"hostwire key uses 1","since":5,"keys":{"pho',
  'null',
  '[]',
  '{"keys":{}}',
  '{"format":"hostwire key uses 2","since":5,"keys":{}}',
  '{"format":"hostwire key uses 1","since":"5","keys":{}}',
  '{"format":"hostwire key uses 1","since":5,"keys":[]}',
  '{"format":"hostwire key uses 1","since":5,"keys":{"phone":{"at":-1,"address":"10.0.0.1"}}}',
  '{"format":"hostwire key uses 1","since":5,"keys":{"phone":{"at":1e300,"address":"10.0.0.1"}}}',
  '{"format":"hostwire key uses 1","since":5,"keys":{"phone":{"at":5,"address":"\\u001b[2J"}}}',
  '{"format":"hostwire key uses 1","since":5,"keys":{"phone":null}}',
  `"${'x'.repeat(2 ** 20)}"`,
];

t.test('[10.keys-uses-disk] a damaged or foreign file is reported once and replaced', async (t) => {
  for (const text of UNUSABLE) {
    t.equal(parseUses(text), undefined, text.slice(0, 100));
    const { file, lines, start } = create(t);
    writeFileSync(file, text);
    const { clock, uses, stored } = start('phone');
    await until(() => lines.length > 0);
    await clock.advance(MINUTE_MS);
    await until(() => parseUses(readFileSync(file, 'utf8')));
    uses.note('phone', '10.0.0.1');
    t.ok(await stored.close());
    t.match(keysIn(file), { phone: { address: '10.0.0.1' } });
    t.match(lines, [/^warn history\.path: .* is damaged or of another program; it is replaced$/]);
    t.equal(lines.length, 1);
  }
});

t.test(
  '[10.keys-uses-disk] a file that cannot be written costs nothing else, and is tried again',
  async (t) => {
    const { folder, file, lines, start } = create(t);
    const { clock, uses, stored } = start('phone');
    // A system error while it is written, as of a full disk.
    const obstacle = `${file}.new`;
    mkdirSync(path.join(obstacle, 'full'), { recursive: true });
    uses.note('phone', '10.0.0.1');
    await clock.advance(MINUTE_MS);
    await until(() => lines.length > 0);
    t.match(lines, [
      /^error history\.path: the last uses of keys are not stored: .*; it is retried every minute$/,
    ]);
    t.match(uses.of('phone'), { address: '10.0.0.1' });
    await clock.advance(MINUTE_MS);
    t.notOk(existsSync(file));
    rmSync(obstacle, { recursive: true });
    await until(async () => {
      await clock.advance(MINUTE_MS);
      return existsSync(file);
    });
    await until(() => lines.length > 1);
    t.strictSame(
      lines.slice(1),
      ['info history.path: the last uses of keys are stored again'],
      'one line each',
    );
    t.ok(await stored.close());
    t.strictSame(readdirSync(folder), ['history.db.key-uses.json']);
  },
);
