/** Python's requests, which holds a chunk back until the next one begins, sees each event at the same time as curl. */
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import t from 'tap';
import { checkTime } from '../../helpers/limits.ts';
import { serveProgram } from '../../helpers/service/service.ts';

const PYTHON = '/usr/bin/python3';
const READER = `
import sys, requests
with requests.get(sys.argv[1], stream=True, timeout=10) as answer:
    for line in answer.iter_lines():
        if line:
            print(line.decode(), flush=True)
`;

const runs = (command: string, ...args: readonly string[]) => spawnSync(command, args).status === 0;

/** The payloads with their times of arrival, until `isEnough` is satisfied with their number. */
async function readLines(
  command: string,
  args: readonly string[],
  isEnough: (count: number) => boolean,
): Promise<ReadonlyMap<string, number>> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const arrivals = new Map<string, number>();
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('data: ')) arrivals.set(line, performance.now());
    if (isEnough(arrivals.size)) break;
  }
  child.kill();
  return arrivals;
}

const skip = !runs(PYTHON, '-c', 'import requests')
  ? 'python3-requests is not installed'
  : !runs('curl', '--version') && 'curl is not installed';

t.test(
  '[4.requests] Python requests sees each event within 50 ms of curl',
  { skip, timeout: 240_000 },
  async (t) => {
    const service = await serveProgram(t, { config: { stats: { stream_interval_seconds: 1 } } });
    const url = `${service.baseUrl}/api/stream`;
    // Python takes seconds to start on a busy machine: curl reads as long as it does.
    let hasRead = false;
    const reading = readLines(PYTHON, ['-c', READER, url], (count) => count === 8).finally(() => {
      hasRead = true;
    });
    const [python, curl] = await Promise.all([reading, readLines('curl', ['-sN', url], () => hasRead)]);
    // Without the first one of each: it is sent when a reader connects, and Python starts later.
    const [, ...lines] = python.keys();
    const gaps = lines
      .flatMap((line) => {
        const [seenByPython, seenByCurl] = [python.get(line), curl.get(line)];
        return seenByPython === undefined || seenByCurl === undefined ? [] : [seenByPython - seenByCurl];
      })
      .sort((a, b) => a - b);
    t.ok(gaps.length >= 5, `${gaps.length} events seen by both`);
    // Held back, each would be late by an interval, 1,000 ms.
    const median = gaps[Math.floor(gaps.length / 2)] ?? Number.POSITIVE_INFINITY;
    t.ok(median < 500, `behind curl by ${gaps.map((gap) => gap.toFixed(1)).join(', ')} ms`);
    checkTime(t, gaps.at(-2) ?? Number.POSITIVE_INFINITY, 50, 'all but one');
  },
);
