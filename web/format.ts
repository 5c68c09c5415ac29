/** Formats values for people: of constant width while they change, and `n/a` when unknown. */
import { TEXTS } from './texts.ts';

type Maybe = number | null | undefined;

const known = (value: Maybe, write: (value: number) => string) =>
  value === null || value === undefined || !Number.isFinite(value) ? TEXTS.unknown : write(value);

export const percent = (value: Maybe, digits = 0) => known(value, (n) => `${n.toFixed(digits)} %`);
export const celsius = (value: Maybe) => known(value, (n) => `${n.toFixed(0)} °C`);
export const gigahertz = (value: Maybe) => known(value, (n) => `${n.toFixed(2)} GHz`);
export const megahertz = (value: Maybe) => known(value, (n) => `${n.toFixed(0)} MHz`);
export const watts = (value: Maybe) => known(value, (n) => `${n.toFixed(n < 10 ? 1 : 0)} W`);
export const plain = (value: Maybe, digits = 0) => known(value, (n) => n.toFixed(digits));
export const count = (value: Maybe) => known(value, (n) => n.toLocaleString('en'));

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** Writes three significant digits: 1.23, 12.3, 123. */
export function bytes(value: Maybe): string {
  return known(value, (n) => {
    let size = Math.abs(n);
    let at = 0;
    while (size >= 999.5 && at < BINARY.length - 1) {
      size /= 1024;
      at++;
    }
    const digits = at === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    return `${size.toFixed(digits)} ${BINARY[at]}`;
  });
}

/** For round numbers, such as those of axes and sizes. */
export const round = (text: string): string => text.replace(/\.0+ /, ' ');
export const rateTick = (value: Maybe) => round(rate(value));
export const rate = (value: Maybe) => known(value, (n) => `${bytes(n)}/s`);
export const mebibytes = (value: Maybe) => known(value, (n) => bytes(n * 1024 ** 2));

/** Writes 14:05:30, by the clock of this device. */
export const timeOfDay = (unixSeconds: number): string =>
  new Date(1000 * unixSeconds).toLocaleTimeString('en-GB');

const dayOf = (at: Date) => at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
const yearOf = (at: Date) => (at.getFullYear() === new Date().getFullYear() ? '' : ` ${at.getFullYear()}`);

/**
 * Writes the time of day, and another day's date: 28 Nov 14:05:30. Of a slot of `step` seconds: without its seconds if it
 * has a minute or more.
 */
export function momentText(unixSeconds: number, step = 1): string {
  const at = new Date(1000 * unixSeconds);
  const isToday = at.toDateString() === new Date().toDateString();
  const time = timeOfDay(unixSeconds).slice(0, step < 60 ? 8 : 5);
  return isToday ? time : `${dayOf(at)}${yearOf(at)} ${time}`;
}

/** Writes a label of a time axis whose labels are `step` seconds apart: 14:05, and 28 Nov at the begin of a day. */
export function tickText(unixSeconds: number, step: number): string {
  const at = new Date(1000 * unixSeconds);
  if (step < 60) return timeOfDay(unixSeconds);
  const isDay = step >= 86_400 || at.getHours() + at.getMinutes() === 0;
  return isDay ? dayOf(at) : timeOfDay(unixSeconds).slice(0, 5);
}

/** 3:07, 1:02:03. */
export function clock(value: Maybe): string {
  return known(value, (n) => {
    const seconds = Math.max(0, Math.floor(n));
    const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    const shown = parts[0] === 0 ? parts.slice(1) : parts;
    return shown.map((part, i) => (i === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
  });
}

/** 3 d 4 h, 2 h 5 min, 7 min: the two largest units. */
export function duration(value: Maybe): string {
  return known(value, (n) => {
    const minutes = Math.floor(Math.max(0, n) / 60);
    const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24, minutes % 60];
    if (days > 0) return `${days} d ${hours} h`;
    return hours > 0 ? `${hours} h ${rest} min` : `${rest} min`;
  });
}

/** A sensor's own unit. */
export function measured(value: Maybe, unit: string): string {
  const digits = unit === 'V' ? 2 : unit === 'W' ? 1 : 0;
  return known(value, (n) => `${n.toFixed(digits)} ${unit}`);
}
