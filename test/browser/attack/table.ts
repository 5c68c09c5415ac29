/** The table of the attacks: how each row went with and without the guard, for docs/evidence/security-proof.md. */
import type { Finding } from './besiege.ts';
import type { Row } from './row.ts';
import type { WireExchange } from './wire.ts';

const DONE: Readonly<Record<Row['does'], string>> = { act: 'acted', read: 'read', frame: 'shown' };

function answerOf({ method, status, answerHeaders }: WireExchange): string | undefined {
  if (method === 'OPTIONS')
    return answerHeaders.has('access-control-allow-origin') ? undefined : 'preflight not granted';
  const code = answerHeaders.get('x-error-code');
  if (status === 200) return '200, kept from the page';
  return code === undefined ? String(status) : `${status} \`${code}\``;
}

export function lineOf(row: Row, findings: readonly Finding[]): string {
  const own = findings.filter((finding) => finding.row.id === row.id);
  const open = own.filter(({ isGuarded }) => !isGuarded);
  const guarded = own.filter(({ isGuarded }) => isGuarded);
  const off = `${DONE[row.does]}, ${open.filter(({ succeeded }) => succeeded).length} of ${open.length}`;
  const failed = guarded.filter(({ succeeded }) => !succeeded).length;
  const answers = guarded.flatMap(({ exchanges }) => exchanges.flatMap((each) => answerOf(each) ?? []));
  const on = `nothing, ${failed} of ${guarded.length}: ${[...new Set(answers)].sort().join('; ')}`;
  return `| ${row.id} | ${row.from} | ${row.method} | ${row.targets.join(', ')} | ${off} | ${on} |`;
}
