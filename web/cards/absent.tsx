/** Lists the features that this machine or its configuration does not offer, and why: from the rows of all cards. */
import { useMay } from '../access.ts';
import { Card, type Fact, Facts } from '../parts/card.tsx';
import { plainReason, reasons } from '../reasons.ts';
import type { Sample, System } from '../sample.ts';
import { useValue } from '../value.ts';
import { CARDS } from './table.ts';

const TITLE = 'Not available here';

export function AbsentCard({ sample, system }: { readonly sample: Sample; readonly system: System }) {
  const learned = useValue(reasons);
  const may = useMay();
  const known = Object.values(CARDS).flatMap(({ absences }) => absences?.(sample, system) ?? []);
  const facts = [...known.filter(([, , scope = 'read']) => may(scope)), ...learned].flatMap(
    ([label, reason]): readonly Fact[] =>
      reason === undefined ? [] : [[label, plainReason(reason), reason]],
  );
  if (facts.length === 0) return null;
  return (
    <Card title={TITLE}>
      <Facts facts={facts} />
    </Card>
  );
}
