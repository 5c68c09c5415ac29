/** Beside node_exporter on this machine: the same names, types, help texts and labels, and values of the same second. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { serveProgram } from '../../helpers/service/service.ts';
import { type Family, parseFamilies } from '../families.ts';
import { checkMetrics, startNodeExporter, whyNo } from '../programs.ts';

const PAGE = path.resolve(import.meta.dirname, '../../../../../docs/metrics.md');

/** Debian's defaults leave out the loopback interface and what is mounted below /mnt; the original does not. */
const AS_BY_DEFAULT = [
  '--collector.netdev.device-exclude=^$',
  '--collector.filesystem.mount-points-exclude=^/(dev|proc|run|sys)($|/)',
];

/** True for filesystems: of those that node_exporter has we show one mount each, and none in memory. */
const isSubset = (name: string) => name.startsWith('node_filesystem_');

const read = async (url: string) => await (await fetch(url)).text();

/** They may be anything a moment later. */
const MOMENTARY =
  /^node_(?:procs_|timex_(?:offset|maxerror|estimated_error)|disk_io_now|sockstat_|filefd_|entropy_|nf_conntrack_entries$|netstat_Tcp_CurrEstab|load|memory_(?:Dirty|Writeback|Committed_AS))/;
/** Memory that the compilers of a busy machine may allocate and free between two readings. */
const MEMORY_SLACK = 2 * 2 ** 30;

/** Ours was read between the other two. */
function isBetween(name: string, before: number, ours: number, after: number): boolean {
  if (MOMENTARY.test(name)) return ours >= 0 || name === 'node_timex_offset_seconds';
  const [low, high] = [Math.min(before, after), Math.max(before, after)];
  const slack = /^node_(?:memory|filesystem)_/.test(name) ? MEMORY_SLACK : Math.abs(high) * 1e-3;
  // The kernel corrects idle times.
  return name === 'node_cpu_seconds_total'
    ? ours >= low - 1 && ours <= high + 1
    : ours >= low - slack && ours <= high + slack;
}

/** The names in the table of what is not there, where `*` stands for anything. */
function documentedGaps(): readonly RegExp[] {
  const [, table = ''] = readFileSync(PAGE, 'utf8').split('## What node_exporter has that is not here');
  return [...table.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(node_[\w*]+)`/g)].map(
      ([, name = '']) => new RegExp(`^${name.replaceAll('*', '\\w*')}$`),
    ),
  );
}

t.test(
  '[3.metrics-names] [3.metrics-values] shared metrics are the same, missing ones are documented',
  { skip: whyNo('prometheus-node-exporter') },
  async (t) => {
    const service = await serveProgram(t);
    const other = await startNodeExporter(t, AS_BY_DEFAULT);
    const own = `${service.baseUrl}/metrics`;
    // The first scrape opens the files, and asks the probers.
    await read(own);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const [before, ours, after] = [
      parseFamilies(await read(other)),
      parseFamilies(await read(own)),
      parseFamilies(await read(other)),
    ];
    const names = [...ours.keys()].filter((name) => name.startsWith('node_'));
    t.ok(names.length > 150, `${names.length} families of node_exporter`);
    for (const name of names) {
      const family = ours.get(name) as Family;
      const [first, last] = [before.get(name), after.get(name)];
      if (first === undefined || last === undefined) {
        t.match(name, /^node_pressure_irq_/, `${name}: only newer versions of node_exporter have it`);
        continue;
      }
      t.strictSame([family.type, family.help], [first.type, first.help], name);
      const keys = [...family.samples.keys()].sort();
      if (
        JSON.stringify([...first.samples.keys()].sort()) !== JSON.stringify([...last.samples.keys()].sort())
      )
        continue; // An interface or a mount has come or gone in between.
      const theirs = [...first.samples.keys()].sort();
      if (isSubset(name))
        t.ok(
          keys.every((key) => theirs.includes(key)),
          `${name}: ${keys} of ${theirs}`,
        );
      else t.strictSame(keys, theirs, `${name}: labels`);
      for (const [key, value] of family.samples) {
        const [low, high] = [first.samples.get(key) ?? Number.NaN, last.samples.get(key) ?? Number.NaN];
        t.ok(isBetween(name, low, value, high), `${name}{${key}}: ${low} ≤ ${value} ≤ ${high}`);
      }
    }
    const gaps = documentedGaps();
    for (const name of before.keys())
      if (name.startsWith('node_') && !ours.has(name))
        t.ok(
          gaps.some((gap) => gap.test(name)),
          `docs/metrics.md says why ${name} is missing`,
        );
    for (const gap of gaps) for (const name of names) t.notMatch(name, gap, `${name} is not missing`);
  },
);

t.test(
  '[3.metrics-promtool] promtool objects to nothing but names that node_exporter has chosen',
  { skip: whyNo('promtool') || whyNo('prometheus-node-exporter') },
  async (t) => {
    const service = await serveProgram(t);
    const ours = await checkMetrics(await read(`${service.baseUrl}/metrics`));
    const theirs = await checkMetrics(await read(await startNodeExporter(t)));
    for (const [name, line] of ours) t.ok(theirs.has(name), line);
    await t.rejects(checkMetrics('no metrics\n'), /promtool/, 'a flaw is noticed');
  },
);
