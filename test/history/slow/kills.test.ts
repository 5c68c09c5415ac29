/**
 * kill -9 during writes: nothing that was acknowledged is lost, and the file is sound. 50 times, 1,000 with HOSTWIRE_FULL=1.
 * Run with an argument, this file is the process that is killed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import process from 'node:process';
import readline from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Session } from '#src/history/store/session.js';
import { sqliteTests } from '../../helpers/machine/sqlite-node.ts';
import { createRandom } from '../../helpers/random.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { BEGIN, nameOf, processesAt, StoreRig, slotAt, soundnessOf, summaryAt } from '../store/harness.ts';

const KILLS = process.env['HOSTWIRE_FULL'] === '1' ? 1000 : 50;
const SERIES = 60;
/** The series that are compared. */
const CHECKED = [0, 7, SERIES - 1];
const WRITER = '--write';

/** Writes minute after minute from `from`, and prints each when it is on disk. */
async function write(file: string, from: number): Promise<void> {
  const rig = new StoreRig(file, 8);
  rig.now = from;
  rig.open(BEGIN - 1000);
  await rig.settled();
  for (let at = from; ; at += 60) {
    await rig.record(at, 1, (slot) => slotAt(slot, SERIES, slot % 60 === 0 ? processesAt(slot) : undefined));
    process.stdout.write(`${at}\n`);
  }
}

/** Kills a writer at a random moment; returns the last minute that it reported, or `from` less a minute. */
async function killOne(file: string, from: number, delayMs: number): Promise<number> {
  const args = ['--disable-warning=ExperimentalWarning', import.meta.filename, WRITER, file, String(from)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  let last = from - 60;
  const lines = readline.createInterface({ input: child.stdout });
  const begun = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      last = Number(line);
      resolve();
    });
    child.once('exit', () => resolve());
  });
  // Some are killed while they open the file, the others while they write.
  if (delayMs >= 0) await begun;
  await sleep(Math.abs(delayMs));
  child.kill('SIGKILL');
  await ended;
  return last;
}

/** Reads on this thread: a worker per kill would take longer than the kill. */
function readBack(file: string, from: number, until: number) {
  const session = new Session({ path: file, startedAt: until });
  const answer = session.read({ names: CHECKED.map(nameOf), from, until, step: 10 });
  session.close();
  if (answer.kind !== 'read' || answer.answer === 'too_many') throw new Error(JSON.stringify(answer));
  const { columns, marks } = answer.answer;
  return {
    columns: CHECKED.map((series) => columns.find(({ name }) => name === nameOf(series))),
    hasStart: marks.some(({ kind }) => kind === 'start'),
  };
}

if (process.argv[2] === WRITER) await write(process.argv[3] ?? '', Number(process.argv[4]));
else {
  const test = await sqliteTests(t, import.meta.filename);
  t.setTimeout(3_600_000);
  test(`${KILLS} kills during writes`, async (t) => {
    t.setTimeout(3_600_000);
    const file = path.join(emptyFolder(t), 'history.db');
    const random = createRandom(9);
    let begin = BEGIN;
    let minutes = 0;
    let [unsound, lost, wrong] = [0, 0, 0];
    for (let kill = 0; kill < KILLS; kill++) {
      const last = await killOne(file, begin, kill % 5 === 0 ? -random.below(150) : random.below(60));
      // The writer may have been killed before it made the file.
      if (soundnessOf(file) !== 'ok') unsound++;
      for (let at = begin; at <= last; at += 60) minutes++;
      const { columns, hasStart } = readBack(file, begin, last + 60);
      if (last >= begin && !hasStart) wrong++;
      for (let at = begin; at < last + 60; at += 10)
        for (const [index, series] of CHECKED.entries()) {
          const column = columns[index];
          const slot = (at - begin) / 10;
          const { mean, min, max } = summaryAt(at, series);
          const found = column?.mean[slot] ?? Number.NaN;
          if (Number.isNaN(found)) lost++;
          else if (found !== mean || column?.min[slot] !== min || column.max[slot] !== max) wrong++;
        }
      begin = last + 180;
    }
    t.equal(unsound, 0, 'each file was sound');
    t.equal(lost, 0, 'no slot of a reported minute was lost');
    t.equal(wrong, 0, 'and all are as they were put');
    t.ok(minutes > KILLS, `${minutes} minutes`);
    t.comment(
      `figure: ${KILLS} kills, ${minutes} minutes reported before them, 0 lost, 0 wrong, each file sound`,
    );
  });
}
