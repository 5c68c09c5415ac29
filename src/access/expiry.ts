/** The end of a key's life: a date, which is valid to its end in local time, or a moment (RFC 3339). */

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const MOMENT = /^(\d{4}-\d{2}-\d{2})[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** Returns whether the calendar has the day: JavaScript reads February 30 as March 2. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** The first moment at which the key is no longer valid, in milliseconds of Unix time; undefined: it is neither form. */
export function parseExpiry(text: string): number | undefined {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year !== undefined)
    return isDay(text) ? new Date(Number(year), Number(month) - 1, Number(day) + 1).getTime() : undefined;
  const [, date = ''] = MOMENT.exec(text) ?? [];
  if (!isDay(date)) return undefined;
  const moment = Date.parse(text.replace(' ', 'T').toUpperCase());
  return Number.isNaN(moment) ? undefined : moment;
}
