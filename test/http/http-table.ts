/** The table in http-table.md: the outcome of each form of a request on each engine. */
import { FORMS, type Form, type Outcome, startTable } from './request-forms.ts';

/** Returns the outcome of each form, in the order of FORMS. */
export async function treatAll(): Promise<readonly Outcome[]> {
  const table = await startTable();
  const outcomes: Outcome[] = [];
  try {
    for (const form of FORMS) outcomes.push(await table.treat(form));
  } finally {
    await table.stop();
  }
  return outcomes;
}

/** An outcome as a cell of the table. */
export function cellOf({ answers, done }: Outcome): string {
  const [times = ''] = done === 0 ? [] : [done === 1 ? ', done' : `, ${done} × done`];
  return `${answers}${times}`;
}

function rowOf({ name }: Form, uws: Outcome | undefined, node: Outcome | undefined): string {
  if (uws === undefined || node === undefined) throw new Error(`an engine has no outcome for ${name}`);
  return `| ${[name, cellOf(uws), cellOf(node)].join(' | ')} |`;
}

const HEAD = "| request | uWebSockets.js | Node's own |\n|---|---|---|";

/** The tables, one per section, from the outcomes of both engines. */
export function tableText(uws: readonly Outcome[], node: readonly Outcome[]): string {
  const sections = new Map<string, string[]>();
  FORMS.forEach((form, at) => {
    const rows = sections.get(form.section) ?? [];
    sections.set(form.section, [...rows, rowOf(form, uws[at], node[at])]);
  });
  return [...sections].map(([section, rows]) => `## ${section}\n\n${HEAD}\n${rows.join('\n')}`).join('\n\n');
}

/** The rows of the page: section, name, uWebSockets.js, Node's own. */
export function readTable(page: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let section = '';
  for (const line of page.split('\n')) {
    if (line.startsWith('## ')) section = line.slice(3);
    const cells = line.startsWith('| ') ? line.slice(2, -2).split(' | ') : [];
    if (cells.length === 3 && cells[0] !== 'request')
      rows.push([section, ...cells.map((cell) => cell.trim())]);
  }
  return rows;
}
