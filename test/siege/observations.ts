/** The observations in each second of the siege, and the attacks that ran in it. */
import type { EndingReport } from './endings.ts';
import type { Attack } from './target.ts';
import type { Usage } from './usage.ts';
import type { Report } from './witness.ts';

/** An attack that has run. */
export interface Run {
  readonly attack: Attack;
  readonly fromMs: number;
  readonly toMs: number;
  readonly operations: number;
  readonly endings?: EndingReport;
}

export interface Second {
  readonly atMs: number;
  readonly report: Report;
  readonly usage: Usage;
}

/** One row of the table. */
export interface Summary {
  readonly name: string;
  readonly times: number;
  readonly rate: string;
  readonly worstStatusMs: number;
  readonly worstLateMs: number;
  readonly peakMib: number;
  /** Fate of the connections that the service had to end or to answer; undefined: there were none. */
  readonly endings?: EndingReport;
}

/** Merges the reports of several runs; undefined: none of them expected anything. */
export function unite(reports: readonly (EndingReport | undefined)[]): EndingReport | undefined {
  const all = reports.filter((report) => report !== undefined);
  if (all.length === 0) return undefined;
  return {
    due: all.reduce((sum, { due }) => sum + due, 0),
    overdue: all.reduce((sum, { overdue }) => sum + overdue, 0),
    slowestSeconds: max(all.map(({ slowestSeconds }) => slowestSeconds)),
  };
}

const max = (values: readonly number[]) => values.reduce((most, value) => Math.max(most, value), 0);

/** An answer to the last request of an attack, or the event after it, may come a second later. */
const AFTERMATH_MS = 1500;

export class Observations {
  readonly seconds: Second[] = [];
  readonly runs: Run[] = [];

  /** One row per attack, with the worst of all seconds in which it ran. `idleMib`: memory before the siege. */
  summaries(attacks: readonly Attack[], idleMib: number): readonly Summary[] {
    return attacks.flatMap((attack) => {
      const runs = this.runs.filter((run) => run.attack === attack);
      return runs.length === 0 ? [] : [this.#summarize(attack, runs, idleMib)];
    });
  }

  #summarize({ name, unit }: Attack, runs: readonly Run[], idleMib: number): Summary {
    const seconds = this.seconds.filter(({ atMs }) =>
      runs.some(({ fromMs, toMs }) => atMs >= fromMs && atMs <= toMs + AFTERMATH_MS),
    );
    const operations = runs.reduce((sum, run) => sum + run.operations, 0);
    const ranSeconds = runs.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0) / 1000;
    const rate = operations / ranSeconds;
    const endings = unite(runs.map((run) => run.endings));
    return {
      name,
      times: runs.length,
      rate: `${rate < 10 ? rate.toFixed(1) : Math.round(rate)} ${unit}/s`,
      worstStatusMs: max(seconds.flatMap(({ report }) => report.statusMs)),
      worstLateMs: max(seconds.map(({ report }) => report.lateMs)),
      peakMib: max(seconds.map(({ usage }) => usage.memoryMib)) - idleMib,
      ...(endings && { endings }),
    };
  }

  get worstLateMs(): number {
    return max(this.seconds.map(({ report }) => report.lateMs));
  }

  get worstOwnDelayMs(): number {
    return max(this.seconds.map(({ report }) => report.ownDelayMs));
  }

  get peakMib(): number {
    return max(this.seconds.map(({ usage }) => usage.memoryMib));
  }

  /** Times of all answers of /api/status, in order. */
  get statusMs(): readonly number[] {
    return this.seconds.flatMap(({ report }) => report.statusMs).sort((a, b) => a - b);
  }

  /** Times of all commands and new filters of honest clients of a hub. */
  get actMs(): readonly number[] {
    return this.seconds.flatMap(({ report }) => report.actMs);
  }

  get faults(): readonly string[] {
    return this.seconds.flatMap(({ report }) => report.faults);
  }
}
