/** Judges the name of a series in a watch rule: one that matches nothing would never be noticed. */

import { didYouMean, findLike, findMeantAmong } from '../../nearest.ts';
import { SERIES } from '../../wire/series.ts';
import type { Doubt } from './row.ts';

const NAMES = Object.keys(SERIES);
const EXPECTED = 'no series has this name';

/** Undefined where a series may match. */
export function judgeSeries(series: string): Doubt | undefined {
  const slash = series.indexOf('/');
  const name = slash < 0 ? series : series.slice(0, slash);
  const subject = slash < 0 ? '' : series.slice(slash);
  const star = name.indexOf('*');
  if (star >= 0 && NAMES.some((known) => known.startsWith(name.slice(0, star)))) return undefined;
  const form = Object.hasOwn(SERIES, name) ? SERIES[name] : undefined;
  if (form === 'both' || (form !== undefined && (form === 'each') === slash >= 0)) return undefined;
  const meant = form === undefined ? findMeantAmong(name, NAMES) : name;
  if (meant !== undefined)
    return { isError: true, message: `${EXPECTED}${didYouMean(withSubject(meant, subject))}` };
  const like = findLike(name, NAMES);
  const hint = like === undefined ? undefined : withSubject(like, subject);
  return { isError: false, message: `${EXPECTED}${didYouMean(hint, 'docs/history.md lists them')}` };
}

/** `name` in one of its forms: with `subject`, or with `/*` for each. */
function withSubject(name: string, subject: string): string {
  const form = SERIES[name];
  if (form === 'one') return name;
  return form === 'each' && subject === '' ? `${name}/*` : `${name}${subject}`;
}
