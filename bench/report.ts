/** Where a bench's figures go: standard output, docs/performance.md between its markers, and build/bench/NAME.json. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
export const BUILD = path.join(ROOT, 'build/bench');
const PAGE = path.join(ROOT, 'docs/performance.md');

export interface Report {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Sentences below the table. */
  readonly notes: readonly string[];
  /** What the table was made from, for programs. */
  readonly figures: unknown;
}

export interface Target {
  readonly what: string;
  readonly measured: number;
  readonly limit: number;
  readonly unit: string;
}

export function targetRow(target: Target): readonly string[] {
  const { what, measured, limit, unit } = target;
  const verdict = measured <= limit ? 'met' : '**missed**';
  return [what, `${measured.toFixed(2)} ${unit}`, `≤ ${limit.toFixed(2)} ${unit}`, verdict];
}

export function machine(): string {
  const { model } = os.cpus()[0] ?? { model: 'unknown processor' };
  const memory = Math.round(os.totalmem() / 2 ** 30);
  return `${model}, ${os.cpus().length} cores, ${memory} GiB, ${os.type()} ${os.release()}, Node ${process.version}`;
}

function tableOf(report: Report): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(report.columns), line(report.columns.map(() => '---')), ...report.rows.map(line)].join('\n');
}

function writePage(report: Report, text: string): void {
  const begin = `<!-- bench:${report.name} -->`;
  const end = `<!-- /bench:${report.name} -->`;
  const page = readFileSync(PAGE, 'utf8');
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/performance.md has no place for ${report.name}`);
  writeFileSync(PAGE, `${page.slice(0, from)}${begin}\n${text}\n${page.slice(to)}`);
}

export function publish(report: Report): void {
  const date = new Date().toISOString().slice(0, 10);
  const notes = report.notes.map((note) => `- ${note}`).join('\n');
  const text = `${tableOf(report)}\n\n${notes}\n- ${date}; ${machine()}.`;
  process.stdout.write(`${text}\n`);
  mkdirSync(BUILD, { recursive: true });
  const record = { name: report.name, date, machine: machine(), figures: report.figures };
  writeFileSync(path.join(BUILD, `${report.name}.json`), `${JSON.stringify(record, null, 2)}\n`);
  writePage(report, text);
}
