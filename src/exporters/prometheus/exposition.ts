/** Families of metrics as text: the exposition format of Prometheus, version 0.0.4, and OpenMetrics 1.0 made of it. */

export type Labels = Readonly<Record<string, string>>;

export interface MetricSample {
  readonly labels?: Labels;
  /** null: it cannot be read now, and the sample is left out. */
  readonly value: number | null | undefined;
}

export interface Family {
  readonly name: string;
  /** Without a line break or a backslash. */
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly samples: readonly MetricSample[];
}

/** A family whose type its name shows: that of a counter ends with `_total`. */
export const family = (name: string, help: string, samples: readonly MetricSample[]): Family => ({
  name,
  help,
  type: name.endsWith('_total') ? 'counter' : 'gauge',
  samples,
});

/** The same of one sample without labels. */
export const single = (name: string, help: string, value: MetricSample['value']): Family =>
  family(name, help, [{ value }]);

/** One sample for each entry of `values`, whose name is the value of `label`. */
export const labelled = (label: string, values: Readonly<Record<string, number>>): readonly MetricSample[] =>
  Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };
// Encoded, every lone surrogate would be the same U+FFFD.
const escapeLabel = (value: string) =>
  value.replaceAll(
    /[\\"\n]|\p{Cs}/gu,
    (found) => ESCAPES[found] ?? `\\\\u${found.charCodeAt(0).toString(16)}`,
  );

function labelsOf(labels: Labels = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/**
 * A family without a sample is left out, and so is a sample whose labels the family has already: names that differ in
 * invalid bytes only, or in what is removed from them, are equal here, and Prometheus rejects such a scrape.
 */
export function writeFamily({ name, help, type, samples }: Family): string {
  const written = new Map<string, number>();
  for (const { labels, value } of samples) {
    if (typeof value !== 'number' || !Number.isFinite(value)) continue;
    const text = labelsOf(labels);
    if (!written.has(text)) written.set(text, value);
  }
  if (written.size === 0) return '';
  const lines = [...written].map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

const BEGIN = '\n# HELP ';

/**
 * The same families as OpenMetrics. The name of a counter is that of its samples without `_total`; a counter whose name
 * does not end so, which node_exporter has, and what it calls untyped are `unknown` there. Samples are the same, so only
 * the headings are looked at: a machine with hundreds of interfaces has a text of a megabyte.
 */
export function toOpenMetrics(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const helpEnd = text.indexOf('\n', at);
    const typeEnd = text.indexOf('\n', helpEnd + 1);
    const next = text.indexOf(BEGIN, typeEnd);
    const end = next < 0 ? text.length : next + 1;
    parts.push(headingOf(text.slice(at, typeEnd)), text.slice(typeEnd, end));
    at = end;
  }
  return `${parts.join('')}# EOF\n`;
}

const HEADING = /^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/;

/** Both lines of a family, as writeFamily and the addon write them. */
function headingOf(lines: string): string {
  const [, name = '', help = '', type = ''] = HEADING.exec(lines) ?? [];
  const isCounter = type === 'counter' && name.endsWith('_total');
  const family = isCounter ? name.slice(0, -'_total'.length) : name;
  const known = type === 'gauge' || isCounter ? type : 'unknown';
  return `# HELP ${family} ${help.replaceAll('"', '\\"')}\n# TYPE ${family} ${known}`;
}
