/** Families of metrics as text: the exposition format of Prometheus, version 0.0.4, and OpenMetrics 1.0 made of it. */

export type MetricType = 'counter' | 'gauge';

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
  readonly type: MetricType;
  readonly samples: readonly MetricSample[];
}

/** A family of one sample without labels. */
export const single = (
  name: string,
  help: string,
  type: MetricType,
  value: MetricSample['value'],
): Family => ({
  name,
  help,
  type,
  samples: [{ value }],
});

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };
const escapeLabel = (value: string) => value.replaceAll(/[\\"\n]/g, (found) => ESCAPES[found] ?? found);

function labelsOf(labels: Labels = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** A family without a sample is left out. */
export function writeFamily({ name, help, type, samples }: Family): string {
  const known = samples.filter((sample) => Number.isFinite(sample.value));
  if (known.length === 0) return '';
  const lines = known.map(({ labels, value }) => `${name}${labelsOf(labels)} ${String(value)}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/** A heading, `# HELP name text` or `# TYPE name type`; the names of metrics have no other characters. */
const HEADING = /^# (HELP|TYPE) ([A-Za-z_:][\w:]*) (.*)$/gm;

/**
 * The same families as OpenMetrics. The name of a counter is that of its samples without `_total`; a counter whose name
 * does not end so, which node_exporter has, and what it calls untyped are `unknown` there.
 */
export function toOpenMetrics(text: string): string {
  const counters = new Set<string>();
  for (const [, word, name = '', type] of text.matchAll(HEADING))
    if (word === 'TYPE' && type === 'counter' && name.endsWith('_total')) counters.add(name);
  const body = text.replaceAll(HEADING, (_line, word: string, name: string, rest: string) => {
    const isCounter = counters.has(name);
    const family = isCounter ? name.slice(0, -'_total'.length) : name;
    if (word === 'HELP') return `# HELP ${family} ${rest.replaceAll('"', '\\"')}`;
    return `# TYPE ${family} ${rest === 'gauge' || isCounter ? rest : 'unknown'}`;
  });
  return `${body}# EOF\n`;
}
