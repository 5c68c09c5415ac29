/** The entities of events that last: a problem for each rule in effect, and for each subject without a rule. */
import { PROBLEM_SUBJECTS } from '../../../history/incidents.ts';
import type { MachineEvent } from '../../../wire/events.ts';
import { ALWAYS, DIAGNOSTIC, type Entity, entitiesOf, type Row, row, yesNo } from './entity.ts';
import { slugsOf } from './ids.ts';

/** Whether an event of it lasts, by the name of the rule or the subject. */
export type Problems = ReadonlyMap<string, boolean>;

/** Bounds the document. */
const MAX_PROBLEMS = 64;

export function problemsOf(rules: readonly string[], open: readonly MachineEvent[]): Problems {
  const lasting = new Set(open.map(({ subject }) => subject.split(' ')[0]));
  const names = [...new Set([...PROBLEM_SUBJECTS, ...rules])];
  return new Map(names.slice(0, MAX_PROBLEMS).map((name) => [name, lasting.has(name)]));
}

const PROBLEM: readonly Row<boolean>[] = [
  row('', (lasts) => lasts, { ...yesNo('problem'), ...DIAGNOSTIC }, { ...ALWAYS, name: '' }),
];

export function problemEntities(problems: Problems = new Map()): readonly Entity[] {
  const names = [...problems.keys()];
  const slugs = slugsOf(names);
  const things = [...problems].map(([label, thing], at) => ({ slug: slugs[at] ?? '', label, thing }));
  return entitiesOf('watch_rule', things, PROBLEM);
}
