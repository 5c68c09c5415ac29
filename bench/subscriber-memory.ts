/** Measures the memory of a subscriber: the difference between two fresh processes. */
import path from 'node:path';
import { anonymousPssBytesOf } from './cpu.ts';
import { type ServiceName, Sink, type SubjectName, startSubject } from './fanout-subjects.ts';
import { ROOT } from './report.ts';

/** Longer than the garbage of opening many connections takes to be collected and returned to the system. */
const MEMORY_SECONDS = 25;
/**
 * Measures memory without the garbage of opening a subscriber, up to 2 KiB, which V8 collects at any time. V8's young
 * generation, of 1 to 16 MiB, is held at its smallest size.
 */
const MEMORY_ARGS = [
  '--max-semi-space-size=1',
  '--expose-gc',
  '--import',
  path.join(ROOT, 'build/ts/bench/subjects/collect.js'),
];

/**
 * Returns the memory of a fresh process that has served `count` subscribers for a while. It has opened `opened`,
 * because code that V8 compiles after thousands of connections is not a cost of a subscriber.
 */
async function memoryAt(name: SubjectName, count: number, opened: number): Promise<number> {
  const server = await startSubject(name, MEMORY_ARGS);
  const sink = new Sink(server.port);
  try {
    await sink.open(count);
    for (let already = count; already < opened; already += count) {
      await sink.close(0);
      await sink.open(count);
    }
    await sink.window(MEMORY_SECONDS);
    return anonymousPssBytesOf(server.pid);
  } finally {
    await sink.stop();
    await server.stop();
  }
}

/** Returns each one's bytes per subscriber, the median of the rounds. All processes run at the same time. */
export async function measureMemory(
  names: readonly ServiceName[],
  [few, many]: readonly [few: number, many: number],
  rounds: number,
): Promise<ReadonlyMap<SubjectName, readonly number[]>> {
  const slopes = new Map<SubjectName, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++)
    await Promise.all(
      names.map(async (name) => {
        const [least, most] = await Promise.all([memoryAt(name, few, many), memoryAt(name, many, many)]);
        slopes.get(name)?.push((most - least) / (many - few));
      }),
    );
  return slopes;
}
