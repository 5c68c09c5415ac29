/** The sensors of a graphics processor under strace: they are left alone with the processor, so that it can sleep. */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { SECTION_BITS } from '#src/host/host.js';
import { AMD_CARD, pci, pciFolder } from '../../helpers/machine/gpu-tree.ts';
import { makeMachine, type Tree } from '../../helpers/machine/tree.ts';
import { emptyFolder } from '../../helpers/scope.ts';

t.setTimeout(280_000);

const CARD = '0000:03:00.0';
const IDLE_MS = 300;
/** The kernel's delay between the last reading and sleep. */
const DELAY_MS = 1500;
/** From one reading to the next. */
const INTERVAL_MS = 50;
const READINGS = 80;

const IDLE = {
  gpu_busy_percent: '0',
  'power/control': 'auto',
  'power/autosuspend_delay_ms': String(DELAY_MS),
};

/** An AMD card and its hwmon chip, linked as in a real /sys, and a chip that is always read. */
const treeOf = (status: string): Tree => ({
  ...pci({ ...AMD_CARD, address: CARD, status, files: { ...AMD_CARD.files, ...IDLE } }),
  [`${pciFolder(CARD)}/hwmon/hwmon3/device`]: { link: `../../../${CARD}` },
  'sys/class/hwmon/hwmon3': { link: `../../bus/pci/devices/${CARD}/hwmon/hwmon3` },
  'sys/class/hwmon/hwmon4/name': 'k10temp\n',
  'sys/class/hwmon/hwmon4/temp1_input': '40000\n',
});

const skip = (() => {
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'strace cannot trace here';
  }
})();

interface Traced {
  /** Milliseconds of each read of a value of the card's sensors. */
  readonly card: readonly number[];
  /** The same for the other chip. */
  readonly other: readonly number[];
}

/** The reads of sensors during detailed readings of `sections`, by all threads. */
async function trace(test: Test, status: string, sections: number): Promise<Traced> {
  const { root } = makeMachine(test, treeOf(status));
  const folder = emptyFolder(test, 'strace');
  const file = path.join(folder, 'trace');
  const addon = path.resolve(import.meta.dirname, '../../../../../dist/hostwire.node');
  const program = `
    const { Host } = require(${JSON.stringify(addon)});
    const root = ${JSON.stringify(root)};
    const host = new Host({ proc: root + '/proc', sys: root + '/sys', files: root, gpuIdleMs: ${IDLE_MS} });
    let left = ${READINGS};
    const timer = setInterval(() => {
      host.readCounters(${sections}, true, 0);
      if (--left === 0) clearInterval(timer);
    }, ${INTERVAL_MS});`;
  const args = ['-f', '-ttt', '-y', '-e', 'trace=read,pread64', '-o', file];
  await promisify(execFile)('strace', [...args, process.execPath, '-e', program]);
  const text = readFileSync(file, 'utf8');
  const timesOf = (chip: string) =>
    [...text.matchAll(/^\d+ +([\d.]+) p?read(?:64)?\(\d+<([^>]*)>/gm)]
      .filter(([, , name = '']) => name.startsWith(root) && name.includes(`/${chip}/`))
      .filter(([, , name = '']) => /_(?:input|average)$/.test(name))
      .map(([, seconds]) => Number(seconds) * 1000);
  return { card: timesOf('hwmon3'), other: timesOf('hwmon4') };
}

const longestGap = (times: readonly number[]) =>
  Math.max(0, ...times.slice(1).map((time, i) => time - (times[i] ?? time)));

t.test('[3.sensors-asleep] an idle card is left alone for the delay of its driver', { skip }, async (t) => {
  const { card, other } = await trace(t, 'active', SECTION_BITS.gpu);
  t.ok(card.length > 5, `${card.length} reads while it is awake`);
  const gap = longestGap(card);
  t.ok(gap >= DELAY_MS, `left alone for ${gap.toFixed()} ms, the driver waits for ${DELAY_MS} ms`);
  t.ok(longestGap(other) < gap, 'the other chip is read meanwhile');
});

t.test('[3.sensors-asleep] nothing of a card that sleeps is read', { skip }, async (t) => {
  const { card, other } = await trace(t, 'suspended', SECTION_BITS.gpu);
  t.strictSame(card, []);
  t.ok(other.length > 1, `${other.length} reads of the other chip`);
});
