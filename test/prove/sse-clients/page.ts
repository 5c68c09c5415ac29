/** The table of docs/sse-clients.md. */

export interface Column {
  /** `uws, http` */
  readonly name: string;
  /** By client: the cell. */
  readonly cells: ReadonlyMap<string, string>;
}

const BEGIN = '<!-- written by `npm run prove sse-clients` -->';
const END = '<!-- end of the table -->';

/** `page` with a new table; `when`: the date of the run. Throws if `page` has no place for it. */
export function withTable(
  page: string,
  clients: readonly { readonly name: string; readonly reads: string }[],
  columns: readonly Column[],
  when: string,
): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error('the page has no place for the table');
  const rows = clients.map(({ name, reads }) => [
    name,
    reads,
    ...columns.map(({ cells }) => cells.get(name) ?? 'not run'),
  ]);
  const lines = [
    ['client', 'reads with', ...columns.map(({ name }) => name)],
    ['---', '---', ...columns.map(() => '---')],
    ...rows,
  ].map((cells) => `| ${cells.join(' | ')} |`);
  return `${page.slice(0, from)}${BEGIN}\n\n${when}:\n\n${lines.join('\n')}\n\n${page.slice(to)}`;
}
