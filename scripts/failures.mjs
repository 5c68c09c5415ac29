// Summaries of the failures in a TAP text, short enough for the end of a long log.

const LINES_PER_FAILURE = 24;
const FIELDS_LEFT_OUT =
  /^(?:source|stack|args|stdio|cwd|externalID|command|lineNumber|columnNumber|typeName):/;

/** Returns the lines of a diagnosis from `start` (behind its `---`) to its end, without useless fields. */
function diagnosisFrom(lines, start) {
  const kept = [];
  const indent = lines[start].search(/\S|$/);
  let isLeftOut = false;
  for (const line of lines.slice(start)) {
    if (line.trim() === '...') break;
    const own = line.slice(indent);
    if (/^\S/.test(own)) isLeftOut = FIELDS_LEFT_OUT.test(own);
    if (!isLeftOut && own.trim() !== '') kept.push(`  ${own}`);
  }
  return kept.slice(0, LINES_PER_FAILURE);
}

/**
 * Returns one text per failed assertion of a TAP text: its path ("file > test > assertion"), then its diagnosis. A test
 * that failed because of its assertions has no text of its own; one that failed otherwise (a time-out, an exit) has.
 */
export function failuresOf(tap) {
  const lines = tap.split('\n');
  const names = [];
  const found = [];
  // Number of failures found before the current test of each depth began.
  const foundBefore = [];
  for (const [index, line] of lines.entries()) {
    const depth = line.search(/\S|$/) / 4;
    const begun = /^ *# Subtest: (.*)$/.exec(line);
    if (begun !== null) {
      names[depth] = begun[1];
      foundBefore[depth] = found.length;
      continue;
    }
    const failed = /^ *not ok \d+(?: - (.*?))?(?: # (?:time=.*|TODO.*|SKIP.*))?$/.exec(line);
    if (failed === null || / # (?:TODO|SKIP)/.test(line)) continue;
    const isTest = names[depth] === failed[1];
    if (isTest && found.length > foundBefore[depth]) continue;
    const place = [...names.slice(0, depth), failed[1] ?? '(unnamed)'].join(' > ');
    const hasDiagnosis = lines[index + 1]?.trim() === '---';
    found.push([place, ...(hasDiagnosis ? diagnosisFrom(lines, index + 2) : [])].join('\n'));
  }
  return found;
}

const FILES_LISTED = 10;

/** Returns seconds of each run of test files, by its name. */
export function secondsOf(tap) {
  const runs = tap.matchAll(/^(?:not )?ok \d+ - (test\/.+?)(?: #.*)? # time=([\d.]+)(m?s)$/gm);
  return Object.fromEntries(
    [...runs].map(([, name, time, unit]) => [
      name,
      Math.round(Number(time) / (unit === 's' ? 0.1 : 100)) / 10,
    ]),
  );
}

/** Returns seconds and name of the slowest runs, one per line, under a line with the total. Empty if there are few. */
export function slowestOf(tap) {
  const times = Object.entries(secondsOf(tap)).sort(([, a], [, b]) => b - a);
  if (times.length <= FILES_LISTED) return [];
  const total = times.reduce((sum, [, seconds]) => sum + seconds, 0);
  return [
    `${times.length} runs of files, ${total.toFixed(0)} s in all; the slowest:`,
    ...times.slice(0, FILES_LISTED).map(([name, seconds]) => `${seconds.toFixed(1).padStart(7)} s  ${name}`),
  ];
}
