/**
 * Publishes the figures of a bench: standard output, build/bench/NAME.json, and, but with `--quick`, between the markers of
 * docs/evidence/performance.md.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
export const BUILD = path.join(ROOT, 'build/bench');
const PAGE = path.join(ROOT, 'docs/evidence/performance.md');

/** The run has fewer rounds, and is not for the page. */
export const isQuick = process.argv.includes('--quick');

export interface Report {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Shown in a table of their own, with their results. */
  readonly targets?: readonly Target[];
  /** At most three sentences below the tables. */
  readonly notes: readonly string[];
  /** The data of the table, for programs. */
  readonly figures: unknown;
}

export interface Target {
  readonly what: string;
  readonly measured: number;
  readonly limit: number;
  readonly unit: string;
}

function targetRow({ what, measured, limit, unit }: Target): readonly string[] {
  const result = measured <= limit ? 'met' : '**missed**';
  return [what, `${measured.toFixed(2)} ${unit}`, `≤ ${limit.toFixed(2)} ${unit}`, result];
}

export function machine(): string {
  const { model } = os.cpus()[0] ?? { model: 'unknown processor' };
  const memory = Math.round(os.totalmem() / 2 ** 30);
  return `${model}, ${os.cpus().length} cores, ${memory} GiB, ${os.type()} ${os.release()}, Node ${process.version}`;
}

function tableOf(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
}

function writePage(report: Report, text: string): void {
  const begin = `<!-- bench:${report.name} -->`;
  const end = `<!-- /bench:${report.name} -->`;
  const page = readFileSync(PAGE, 'utf8');
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from)
    throw new Error(`docs/evidence/performance.md has no markers for ${report.name}`);
  writeFileSync(PAGE, `${page.slice(0, from)}${begin}\n${text}\n${page.slice(to)}`);
}

export function publish(report: Report): void {
  const date = new Date().toISOString().slice(0, 10);
  const { rows, targets = [] } = report;
  const tables = rows.length === 0 ? [] : [tableOf(report.columns, rows)];
  if (targets.length > 0)
    tables.push(tableOf(['target', 'measured', 'limit', 'result'], targets.map(targetRow)));
  const text = [...tables, report.notes.join(' '), `${date}; ${machine()}.`].join('\n\n');
  process.stdout.write(`${text}\n`);
  mkdirSync(BUILD, { recursive: true });
  const record = { name: report.name, date, machine: machine(), figures: report.figures };
  writeFileSync(path.join(BUILD, `${report.name}.json`), `${JSON.stringify(record, null, 2)}\n`);
  if (!isQuick) writePage(report, text);
}
