/** The tasks of a page's main thread, from Chromium's tracing. */
import type { Page } from 'playwright-core';

/** One event of Chromium's tracing; times in µs. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly args?: { readonly name?: string };
  /** Wall time, and processor time, which excludes waiting for other programs. */
  readonly dur?: number;
  readonly tdur?: number;
}

/** The tasks of the page's main thread in a trace, in milliseconds of processor time. */
function tasksOf(trace: Buffer): readonly number[] {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: readonly TraceEvent[] };
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`;
  const isMain = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(threadOf),
  );
  return traceEvents
    .filter((event) => event.name === 'RunTask' && isMain.has(threadOf(event)))
    .map(({ tdur, dur = 0 }) => (tdur ?? dur) / 1000);
}

/** Those while `act` runs, in milliseconds of processor time; throws where there are fewer than `least`. */
export async function tasksIn(
  page: Page,
  act: () => Promise<unknown>,
  least: number,
): Promise<readonly number[]> {
  const browser = page.context().browser();
  if (browser === null) throw new Error('the page has no browser');
  await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline'] });
  await act();
  const tasks = tasksOf(await browser.stopTracing());
  if (tasks.length < least) throw new Error(`${tasks.length} tasks: not traced`);
  return tasks;
}
