/** Which form of the metrics a request wants: the text format or OpenMetrics, compressed or not. */

export interface Form {
  readonly isOpenMetrics: boolean;
  readonly isGzip: boolean;
}

export const TYPE_OF = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openMetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const;

interface Entry {
  /** Without parameters, in lower case. */
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly weight: number;
}

function parseEntry(text: string): Entry {
  const [value = '', ...rest] = text.split(';').map((part) => part.trim().toLowerCase());
  const parameters = new Map(
    rest.map((part) => {
      const [name = '', ...words] = part.split('=');
      return [name.trim(), words.join('=').trim().replaceAll('"', '')] as const;
    }),
  );
  const weight = Number(parameters.get('q') ?? 1);
  return { value, parameters, weight: weight >= 0 && weight <= 1 ? weight : 0 };
}

const isVersion = ({ parameters }: Entry, version: string) =>
  (parameters.get('version') ?? version) === version;

/** The weight of the most specific entry that matches; 0 where none does. */
function weightOf(entries: readonly Entry[], type: string, version: string): number {
  const [group = ''] = type.split('/');
  const found =
    entries.find((entry) => entry.value === type && isVersion(entry, version)) ??
    entries.find(({ value }) => value === `${group}/*`) ??
    entries.find(({ value }) => value === '*/*');
  return found?.weight ?? 0;
}

function acceptsGzip(entries: readonly Entry[]): boolean {
  const found = entries.find(({ value }) => value === 'gzip') ?? entries.find(({ value }) => value === '*');
  return (found?.weight ?? 0) > 0;
}

/**
 * `accept` and `acceptEncoding`: the entries of those headers. OpenMetrics only where it is named and at least as
 * welcome as the text format, which everybody else gets.
 */
export function chooseForm(accept: readonly string[], acceptEncoding: readonly string[]): Form {
  const types = accept.map(parseEntry);
  const named = types.filter(
    (entry) => entry.value === 'application/openmetrics-text' && isVersion(entry, '1.0.0'),
  );
  const wanted = Math.max(0, ...named.map(({ weight }) => weight));
  return {
    isOpenMetrics: wanted > 0 && wanted >= weightOf(types, 'text/plain', '0.0.4'),
    isGzip: acceptsGzip(acceptEncoding.map(parseEntry)),
  };
}
