// What failed in a TAP text, short enough to stand at the end of a long log.

const LINES_PER_FAILURE = 24;
const FIELDS_LEFT_OUT =
  /^(?:source|stack|args|stdio|cwd|externalID|command|lineNumber|columnNumber|typeName):/;

/** The lines of a diagnosis from `start` (behind its `---`) to its end, without what a reader of a log has no use for. */
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
 * One text a failed assertion of a TAP text: where it stands ("file > test > assertion"), then its diagnosis. A test that
 * failed for what is in it has no text of its own; one that failed by itself (a time-out, an exit) has.
 */
export function failuresOf(tap) {
  const lines = tap.split('\n');
  const names = [];
  const found = [];
  // How many failures had been found when the test at a depth began.
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

/** One line per file, the slowest first: its seconds and its name. Empty where there are few. */
export function slowestOf(tap) {
  const files = [...tap.matchAll(/^(?:not )?ok \d+ - (\S+)\.test\.js(?: #.*)? # time=([\d.]+)(m?s)$/gm)];
  if (files.length <= FILES_LISTED) return [];
  const times = files.map(([, name, time, unit]) => ({
    name,
    seconds: Number(time) / (unit === 's' ? 1 : 1000),
  }));
  times.sort((a, b) => b.seconds - a.seconds);
  const total = times.reduce((sum, { seconds }) => sum + seconds, 0);
  return [
    `${files.length} files, ${total.toFixed(0)} s in all; the slowest:`,
    ...times
      .slice(0, FILES_LISTED)
      .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name.replace('build/ts/', '')}`),
  ];
}
