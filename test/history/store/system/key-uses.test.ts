/** The last uses of keys on disk: written with the minutes, read at the next start, and kept through failures. */
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { KeyUses } from '#src/access/key-uses.js';
import { sqliteTests } from '../../../helpers/machine/sqlite-node.ts';
import { emptyFolder } from '../../../helpers/scope.ts';
import { BEGIN, rigIn } from '../harness.ts';

const test = await sqliteTests(t, import.meta.filename);

/** A run of the service at `now`, with the keys `names`. */
async function start(t: Test, folder: string, now: number, ...names: readonly string[]) {
  const rig = rigIn(t, folder);
  rig.now = now;
  const uses = new KeyUses(() => rig.now * 1000);
  uses.reconfigure(names);
  rig.keyUses = uses;
  rig.open();
  await rig.settled();
  return { rig, uses };
}

test('[10.keys-uses-disk] they are written within a minute, and read at the next start', async (t) => {
  const folder = emptyFolder(t);
  const first = await start(t, folder, BEGIN, 'phone', 'tv');
  first.uses.note('phone', '10.0.0.1');
  await first.rig.record(BEGIN, 1);
  // What is open is in use: it is news without a request.
  first.uses.opened('phone');
  await first.rig.record(BEGIN + 60, 1);
  t.ok(await first.rig.close());
  t.equal(statSync(first.rig.path).mode & 0o777, 0o600);

  const { rig, uses } = await start(t, folder, BEGIN + 200, 'phone', 'panel');
  t.strictSame(uses.of('phone'), { atMs: (BEGIN + 120) * 1000, address: '10.0.0.1', open: 0 });
  t.equal(uses.sinceMs, BEGIN * 1000, 'when the first run began');
  uses.note('panel', '2001:db8::1');
  t.ok(await rig.close(), 'and at the end');
  const third = await start(t, folder, BEGIN + 300, 'panel');
  t.match(third.uses.of('panel'), { atMs: (BEGIN + 200) * 1000, address: '2001:db8::1' });
  t.ok(await third.rig.close());
  const last = await start(t, folder, BEGIN + 400, 'phone');
  t.equal(last.uses.of('phone'), undefined, 'a key that was removed meanwhile is forgotten');
  t.strictSame([...first.rig.lines, ...rig.lines, ...last.rig.lines], []);
});

test('[10.keys-uses-disk] after a failure they are written with the next batch', async (t) => {
  const folder = emptyFolder(t);
  const file = path.join(folder, 'history.db');
  writeFileSync(file, 'of another program');
  const { rig, uses } = await start(t, folder, BEGIN, 'phone');
  uses.note('phone', '10.0.0.1');
  await rig.record(BEGIN, 1);
  t.match(uses.of('phone'), { address: '10.0.0.1' }, 'nothing waits for the disk');
  writeFileSync(file, '');
  // The first batch brings what an earlier run has left, the second one writes.
  await rig.record(BEGIN + 60, 2);
  t.ok(await rig.close());
  const next = await start(t, folder, BEGIN + 200, 'phone');
  t.match(next.uses.of('phone'), { atMs: BEGIN * 1000, address: '10.0.0.1' });
});
