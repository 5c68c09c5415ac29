/** Runs the siege on one form of the service after the other, and prints a row for each attack. */
import { accessSync, constants, existsSync } from 'node:fs';
import process from 'node:process';
import type { Test } from 'tap';
import { ATTACKS } from './attacks.ts';
import type { EndingReport } from './endings.ts';
import { type Summary, unite } from './observations.ts';
import { type Form, whyNotSanitized } from './service.ts';
import { besiege, type Siege } from './siege.ts';

const SEED = Number(process.env['HOSTWIRE_SEED'] ?? 20_261_122);
/** Fewer seconds, for a look at one attack: the results are no proof. */
const ASKED_SECONDS = process.env['HOSTWIRE_SIEGE_SECONDS'];
/** For the start, the recovery and the checks of each form. */
const BESIDES_MS = 300_000;

function canPressKeys(): boolean {
  try {
    accessSync('/dev/uinput', constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Why this machine cannot be the place of a siege; false if it can. */
function whyNot(): string | false {
  if (process.platform !== 'linux') return 'needs the addresses of 127.0.0.0/8, and /proc';
  if (!existsSync('/usr/bin/dbus-daemon')) return 'apt-get install dbus (missing: /usr/bin/dbus-daemon)';
  if (!existsSync('/usr/bin/python3')) return 'apt-get install python3 (missing: /usr/bin/python3)';
  // If the private bus were lost, media commands would fall back on keys.
  return canPressKeys() && 'run it as a user who cannot write /dev/uinput: it could press media keys';
}

/** Besieges each of `forms` for its share of `seconds`, and prints the table of those that were possible here. */
export async function proveSieges(t: Test, forms: readonly Form[], seconds: number): Promise<void> {
  const sieges: Siege[] = [];
  const reason = whyNot();
  for (const [index, form] of forms.entries()) {
    const skip = reason || (form.isSanitized === true && whyNotSanitized());
    const duration = Number(ASKED_SECONDS ?? seconds) * form.share;
    const options = { skip, timeout: duration * 1000 + BESIDES_MS };
    await t.test(
      `a siege of ${Math.round(duration)} s ${form.name}, seed ${SEED + index}`,
      options,
      async (t) => {
        sieges.push(await besiege(t, form, duration, SEED + index));
      },
    );
  }
  for (const line of tableOf(summariesOf(sieges))) t.comment(line);
}

/** One row per attack over all sieges whose times count. */
function summariesOf(sieges: readonly Siege[]): readonly Summary[] {
  const judged = sieges.filter(({ form }) => form.isSanitized !== true);
  return ATTACKS.flatMap((attack) => {
    const rows = judged.flatMap(({ observations, idle }) => observations.summaries([attack], idle.memoryMib));
    const [first] = rows;
    if (first === undefined) return [];
    const worst = (of: (row: Summary) => number) => Math.max(...rows.map(of));
    const endings = unite(rows.map((row) => row.endings));
    return [
      {
        ...first,
        times: rows.reduce((sum, { times }) => sum + times, 0),
        worstStatusMs: worst((row) => row.worstStatusMs),
        worstLateMs: worst((row) => row.worstLateMs),
        peakMib: worst((row) => row.peakMib),
        ...(endings && { endings }),
      },
    ];
  });
}

/** `12 of 12, 0.3 s`: how many connections, and the slowest of them. Empty where nothing is expected of the service. */
function endingWords(endings: EndingReport | undefined): string {
  if (endings === undefined) return '';
  const { due, overdue, slowestSeconds } = endings;
  return `${due - overdue} of ${due}, ${slowestSeconds.toFixed(1)} s`;
}

export function tableOf(summaries: readonly Summary[]): readonly string[] {
  return [
    '| attack | times | rate | worst status, ms | worst lateness, ms | memory over idle, MiB | ended or answered in time |',
    '|---|---|---|---|---|---|---|',
    ...summaries.map(
      ({ name, times, rate, worstStatusMs, worstLateMs, peakMib, endings }) =>
        `| ${name} | ${times} | ${rate} | ${worstStatusMs.toFixed(0)} | ${worstLateMs.toFixed(0)} | ${peakMib.toFixed(1)} | ${endingWords(endings)} |`,
    ),
  ];
}
