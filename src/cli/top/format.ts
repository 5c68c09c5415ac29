/** Formats values as text; `-` for unknown ones. Pure. */

export type Maybe = number | null | undefined;

// A service may send anything.
const known = (value: Maybe, write: (value: number) => string): string =>
  typeof value === 'number' && Number.isFinite(value) ? write(value) : '-';

export const plain = (value: Maybe, digits = 0) => known(value, (n) => n.toFixed(digits));
export const percent = (value: Maybe, digits = 0) => known(value, (n) => `${n.toFixed(digits)} %`);
export const measured = (value: Maybe, unit: string) =>
  known(value, (n) => `${n.toFixed(unit === 'V' || unit === 'GHz' ? 2 : 0)} ${unit}`);

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Writes three significant digits: 1.23 MiB, 12.3 MiB, 123 MiB. */
export const bytes = (value: Maybe) =>
  known(value, (n) => {
    const at = n < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(n * (1024 / 999.5)) / 10));
    const size = n / 1024 ** at;
    return `${size.toFixed(at === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2)} ${UNITS[at]}`;
  });
export const rate = (value: Maybe) => known(value, (n) => `${bytes(n)}/s`);

/** 3 d 4 h, 2 h 5 min, 7 min. */
export const duration = (value: Maybe) =>
  known(value, (n) => {
    const minutes = Math.floor(n / 60);
    if (minutes >= 1440) return `${Math.floor(minutes / 1440)} d ${Math.floor(minutes / 60) % 24} h`;
    return minutes >= 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${minutes} min`;
  });

/** 3:07, 62:03. */
export const clock = (value: Maybe) =>
  known(value, (n) => `${Math.floor(n / 60)}:${String(Math.floor(n) % 60).padStart(2, '0')}`);
