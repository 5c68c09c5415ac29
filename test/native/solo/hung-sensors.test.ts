/** A sensor that hangs in the kernel costs nothing but its own chip's values; when it answers again, so does its chip. */
import path from 'node:path';
import readline from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { checkTime, PATIENCE_MS } from '../../helpers/limits.ts';
import { openMountSpace, whyNoMountSpace } from '../../helpers/machine/hung-mounts.ts';
import { makeMachine, type Tree } from '../../helpers/machine/tree.ts';
import type { SensorLine } from '../sensor-host.ts';

const PROGRAM = path.join(import.meta.dirname, '../sensor-host.js');
const CHIPS = 12;
const HUNG = 4;
const reason = whyNoMountSpace();

const chip = (number: number, target?: string): Tree => ({
  [`sys/class/hwmon/hwmon${number}/name`]: `chip${number}\n`,
  [`sys/class/hwmon/hwmon${number}/temp1_input`]: target === undefined ? '40000\n' : { link: target },
  [`sys/class/hwmon/hwmon${number}/temp2_input`]: '41000\n',
});

t.setTimeout(280_000);

t.test('[3.sensors-failing] four of twelve chips hang', { skip: reason ?? false }, async (t) => {
  const space = await openMountSpace(t);
  const mounts = await space.mountHung(HUNG);
  let tree: Tree = {
    'sys/class/power_supply/BAT0/type': 'Battery\n',
    'sys/class/power_supply/BAT0/uevent': 'POWER_SUPPLY_CAPACITY=50\n',
  };
  // Opening a file of such a filesystem waits for its server, as a read of a sensor waits for its driver.
  for (let number = 0; number < CHIPS; number++)
    tree = { ...tree, ...chip(number, mounts.points[number] && `${mounts.points[number]}/temp`) };
  const machine = makeMachine(t, tree);
  const child = space.start(process.execPath, [PROGRAM, machine.root], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill());
  if (child.stdout === null) throw new Error('no pipe');
  const lines: SensorLine[] = [];
  // Our own program's line.
  readline
    .createInterface({ input: child.stdout })
    .on('line', (line) => lines.push(JSON.parse(line) as SensorLine));
  const waitFor = async (isTrue: (line: SensorLine) => boolean) => {
    const end = performance.now() + PATIENCE_MS;
    while (performance.now() < end) {
      const last = lines.at(-1);
      if (last !== undefined && isTrue(last)) return last;
      await sleep(20);
    }
    throw new Error(`never: ${JSON.stringify(lines.at(-1))}`);
  };

  const hanging = await waitFor(({ sensors }) => sensors.filter(({ value }) => value !== null).length === 16);
  t.equal(hanging.sensors.length, 2 * CHIPS, 'those that hang are there, without values');
  t.strictSame(
    hanging.sensors.filter(({ value }) => value === null).map(({ chip: name }) => name),
    Array.from({ length: 2 * HUNG }, (_, at) => `chip${Math.floor(at / 2)}`),
  );
  await waitFor(({ sensors }) => sensors.slice(0, 2 * HUNG).every(({ failure }) => failure === 'no answer'));
  machine.write({ 'sys/class/hwmon/hwmon11/temp1_input': '55000\n' });
  await waitFor(({ sensors }) => sensors[22]?.value === 55);
  t.equal(lines.at(-1)?.batteries, 1);

  await waitFor(() => lines.length >= 30);
  // Without the first, which loads its libraries.
  const seen = lines.slice(1);
  const latest = Math.max(...seen.map(({ late }) => late));
  const longest = Math.max(...seen.map(({ took }) => took));
  checkTime(t, longest, 50, 'no reading waited; the longest');
  t.comment(
    `figure: 4 of 12 sensor chips hang: readings late by ${latest.toFixed(1)} ms at most, took ${longest.toFixed(2)} ms at most`,
  );

  await mounts.answer();
  // The filesystem has no such file: that is an answer too, and the other input of the chip is read again.
  const back = await waitFor(({ sensors }) => sensors[1]?.value === 41 && sensors[7]?.value === 41);
  t.match(back.sensors[0]?.failure, /^open .*temp1_input: /);
});
