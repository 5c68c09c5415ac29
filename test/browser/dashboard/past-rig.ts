/** A history of which everything is known, and what a chart of the page shows of it. */
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { Test } from 'tap';
import type { History, HistoryRequest } from '#src/history/history.js';
import type { HistoryEvent, HistoryMark, HistoryPayload, ProcessHistoryPayload } from '#src/wire/history.js';
import { livelyHost } from '../../helpers/fakes/lively-host.ts';
import { serveHere } from '../../helpers/service/service.ts';
import { card, openLive, until } from '../browser.ts';

/** The load of the processor in each slot: between the lines of the chart's grid. */
export const PAST = { mean: 62, min: 55, max: 82 };
/** Seconds before the answer, for each range: the begin and the end of what was not recorded. */
export const GAPS: readonly (readonly [from: number, to: number])[] = [
  [1500, 1200],
  [180, 120],
];

export const NAMES = [
  'cpu.load',
  'cpu.core/0',
  'memory.used_percent',
  'disk.read//',
  'disk.read//home',
  'network.receive',
];
const BATTERY = 'battery.charge/BAT0';

const SLOT_SECONDS = 10;
/** A pixel of a chart is about 1/400 of it. */
const NEAR = 1 / 200;
const isMatch = (name: string, pattern: string) =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

export class KnownPast implements History {
  readonly isOn = true;
  /** In order. */
  readonly asked: HistoryRequest[] = [];
  /** When the last of them was answered, in Unix seconds. */
  answeredAt = 0;
  /** The moments whose processes were asked for, in order. */
  readonly askedAt: number[] = [];
  /** Empty until then: nothing of the past has been read. */
  hasProcesses = true;
  /** Awaited before each answer about processes. */
  before: () => Promise<unknown> = async () => undefined;
  /** For how long values are kept. */
  days = 400;
  isOnBattery = false;
  /** By mount point, as the service foresees it. */
  daysLeft: Readonly<Record<string, number>> = {};
  /** Reports an event to the service. */
  report: (event: HistoryEvent) => void = () => undefined;
  marks: readonly HistoryMark[] = [];
  events: readonly HistoryEvent[] = [];

  async query({ series, since, until, step = SLOT_SECONDS }: HistoryRequest): Promise<HistoryPayload> {
    this.asked.push({ series, since, until, step });
    const now = Date.now() / 1000;
    this.answeredAt = now;
    const start = Math.floor((since < 0 ? now + since : since) / step) * step;
    const count = Math.floor((Math.min(until ?? now, now) - start) / step) + 1;
    const isKnown = (slot: number) => {
      const age = now - start - slot * step;
      return GAPS.every(([from, to]) => age > from || age < to);
    };
    const column = (value: number) => Array.from({ length: count }, (_, i) => (isKnown(i) ? value : null));
    const { mean, min, max } = PAST;
    // The battery is read although nothing else is.
    const charge = { unit: '%', mean: Array<number>(count).fill(80) };
    const trends = Object.entries(this.daysLeft)
      .map(([mount, days]) => [`disk.days_left/${mount}`, days] as const)
      .filter(([name]) => series.some((pattern) => isMatch(name, pattern)))
      .map(([name, days]) => [name, { unit: 'days', mean: [days] }] as const);
    const hasCharge = this.isOnBattery && series.includes('battery.charge/*');
    const names = NAMES.filter((name) => series.some((pattern) => isMatch(name, pattern)));
    const columns = {
      unit: '%',
      mean: column(mean),
      ...(step > 1 && { min: column(min), max: column(max) }),
    };
    return {
      start,
      step,
      count,
      oldest: Math.floor(now - this.days * 86_400),
      series: {
        ...Object.fromEntries(names.map((name) => [name, columns])),
        ...(hasCharge && { [BATTERY]: charge }),
        ...Object.fromEntries(trends),
      },
      unknown: [],
      marks: [...this.marks],
      events: [...this.events],
    };
  }

  async processesAt(at: number): Promise<ProcessHistoryPayload> {
    this.askedAt.push(at);
    await this.before();
    if (!this.hasProcesses)
      return { at, taken_at: null, window_seconds: null, cpu: null, memory: null, disk: null };
    return {
      at,
      taken_at: at + 9,
      window_seconds: 10,
      cpu: [
        { name: 'compiler-with-a-long-name', count: 16, value: 93.5 },
        { name: 'firefox', count: 12, value: 2 },
      ],
      memory: [{ name: 'firefox', count: 12, value: 3 * 2 ** 30 }],
      disk: [{ name: 'postgres', count: 1, value: 30 * 2 ** 20 }],
    };
  }

  onEvent(listener: (event: HistoryEvent) => void): () => void {
    this.report = listener;
    return () => undefined;
  }
}

export const rangeSwitch = (page: Page) => page.getByRole('group', { name: 'Time range of the charts' });
export const chartOf = (page: Page, title: string) =>
  card(page, title).getByRole('img', { name: /^Chart of the (?:last|time) / });
/** Where the keyboard moves the moment. */
export const sliderOf = (page: Page, title: string) =>
  card(page, title).getByRole('slider', { name: /^Time in the chart/ });
/** The panel that shows the chosen moment. */
export const panelOf = (page: Page) => page.locator('.moment');

/** The place on a chart of `part` of its time: 0 is its begin, 1 is now. */
export async function placeAt(
  chart: Locator,
  part: number,
): Promise<{ readonly x: number; readonly y: number }> {
  const box = await chart.locator('.u-over').boundingBox();
  if (box === null) throw new Error('the chart is not drawn');
  return { x: box.x + part * box.width, y: box.y + box.height / 2 };
}

/** The place in a chart of five minutes of what was `age` seconds old when the history was answered. */
export const partAt = (past: KnownPast, age: number): number =>
  1 - (age + Date.now() / 1000 - past.answeredAt) / 300;

/** In the page: the places of a chart, from 0 to 1, at which something is drawn near a height. */
const DRAWN_AT = `([title, percent]) => {
  const card = [...document.querySelectorAll('.card')].find((each) => each.querySelector('h2').textContent === title);
  const canvas = card?.querySelector('canvas');
  const over = card?.querySelector('.u-over');
  if (!canvas || !over) return [];
  const [all, inner] = [canvas.getBoundingClientRect(), over.getBoundingClientRect()];
  const scale = canvas.width / all.width;
  const left = Math.round(scale * (inner.left - all.left));
  const top = Math.round(scale * (inner.top - all.top + (1 - percent / 100) * inner.height)) - 2;
  const [width, height] = [Math.round(scale * inner.width), 5];
  // A copy: Chromium complains of a canvas that is read often.
  const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(canvas, -left, -top);
  const { data } = copy.getImageData(0, 0, width, height);
  const columns = Array.from({ length: width }, (_, x) => x);
  const isDrawn = (x) => [0, 1, 2, 3, 4].some((y) => data[4 * (y * width + x) + 3] > 0);
  return columns.filter(isDrawn).map((x) => (x + 0.5) / width);
}`;

/** The places of a card's chart, from 0 to 1 (now), at which something is drawn near `percent` of its height. */
export const drawnAt = (page: Page, title: string, percent: number): Promise<readonly number[]> =>
  page.evaluate<readonly number[]>(`(${DRAWN_AT})(${JSON.stringify([title, percent])})`);

/** Whether something is drawn at `part` of the time. */
export async function isDrawn(page: Page, title: string, part: number, percent: number): Promise<boolean> {
  const places = await drawnAt(page, title, percent);
  return places.some((place) => Math.abs(place - part) < NEAR);
}

/** The words of the processor's chart. */
export const FIVE_MINUTES = /^Chart of the last five minutes\. Processor: Load \d+ %\.$/;
export const labelOf = (page: Page): Promise<string | null> =>
  chartOf(page, 'Processor').getAttribute('aria-label');

/** Waits until what was before the page is drawn in the processor's chart. */
export const isFilled = (page: Page): Promise<boolean> =>
  until(() => isDrawn(page, 'Processor', 0.2, PAST.mean), true);

/** A new page of a service with that past, once it is drawn. */
export async function openPast(t: Test, browser: Browser, past: KnownPast, how: BrowserContextOptions = {}) {
  const config = { stats: { stream_interval_seconds: 1 } };
  const service = await serveHere(t, livelyHost(), config, { history: past });
  const opened = await openLive(t, browser, service.baseUrl, how);
  await isFilled(opened.page);
  return opened;
}
