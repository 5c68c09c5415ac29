/** A program: prints its process's limits, as a JSON line, for each line of its input. "burn" first uses 0.2 s of CPU time. */
import '../../helpers/service/dead-buses.ts';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { openNativeHost } from '#src/host/native.js';

function burn(): void {
  const before = process.cpuUsage();
  while (process.cpuUsage(before).user + process.cpuUsage(before).system < 200_000);
}

const host = openNativeHost();
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'burn') burn();
  console.log(JSON.stringify(host.readCounters(0, true, 0).limits));
}
