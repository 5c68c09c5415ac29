/** Parses what a scrape answers, independently of what writes it. */

export interface Family {
  readonly type: string;
  readonly help: string;
  /** By their labels in alphabetical order. */
  readonly samples: ReadonlyMap<string, number>;
}

const SAMPLE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy;

function labelsOf(text: string): string {
  LABEL.lastIndex = 0;
  const labels = [...text.matchAll(LABEL)];
  if (labels.map(([all]) => all).join('') !== text) throw new Error(`no labels: ${text}`);
  return labels
    .map(([, name, value]) => `${name}=${value}`)
    .sort()
    .join(',');
}

interface Open {
  type: string;
  help: string;
  samples: Map<string, number>;
}

/** Throws for a line that is none, a family in two places, a sample outside its family, and two with the same labels. */
export function parseFamilies(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, Open>();
  let current = '';
  const begin = (name: string): Open => {
    if (name !== current && families.has(name)) throw new Error(`${name} is in two places`);
    current = name;
    const family = families.get(name) ?? { type: '', help: '', samples: new Map<string, number>() };
    families.set(name, family);
    return family;
  };
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new Error('the last line has no end');
  for (const line of lines.filter((each) => each !== '# EOF')) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (word !== undefined) {
      begin(name)[word === 'HELP' ? 'help' : 'type'] = rest;
      continue;
    }
    const [, sample = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    if (sample !== current && sample !== `${current}_total`) throw new Error(`out of place: ${line}`);
    const { samples } = begin(current);
    const key = labelsOf(labels);
    if (samples.has(key)) throw new Error(`twice: ${line}`);
    if (!Number.isFinite(Number(value))) throw new Error(`no number: ${line}`);
    samples.set(key, Number(value));
  }
  return families;
}
