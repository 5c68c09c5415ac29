/** Samples as a machine sends them to a hub, sound and wrong. */
const LINES = {
  cpu: '"cpu":{"current_load":1,"current_temp":51.2,"current_speed":3.4}',
  memory: '"memory":{"used":1154760704,"free":24121266176,"used_percent":4.6}',
  gpu: '"gpu":null',
  disks: '"disks":[{"fs":"/","used":1,"available":1,"used_percent":50}]',
  network: '"network":{"bytesRecv":1,"bytesSent":1}',
};

export type Lines = Partial<Record<keyof typeof LINES, string | Buffer>>;

/** A sample of all sections, with other lines in the place of some. `more`: members beside its time. */
export function sampleBytes(run: string, number: number, wrong: Lines = {}, more = ''): Buffer {
  const head = { v: 1, run, clock: Math.floor(performance.now()), n: number, plain: Object.keys(LINES) };
  const begin = `${JSON.stringify(head)}\n"timestamp":${Math.floor(Date.now() / 1000)},"uptime":2311${more}`;
  const lines = Object.values({ ...LINES, ...wrong }).flatMap((line) => [
    Buffer.from('\n'),
    Buffer.from(line),
  ]);
  return Buffer.concat([Buffer.from(begin), ...lines]);
}

/** Sections of wrong types, and lines that are not members. */
export const WRONG: readonly Lines[] = [
  { disks: '"disks":null' },
  { cpu: '"cpu":null' },
  { memory: '"memory":[]' },
  { network: '"network":"none"' },
  { disks: '"disks":[null]' },
  { cpu: '"cpu":{"current_load":"1"}' },
  { disks: '"disks":[{"x":1', gpu: '"gpu":2}]' },
  { memory: '"memory":{}' },
  { disks: '"disks":' },
  { disks: '"disks":[]},"x":{' },
  { cpu: '' },
];

/** Mount points that are not UTF-8: bytes alone, in a pair of halves, and a surrogate. */
export const NO_UTF8: readonly Lines[] = ['ff', 'c3', 'c328', 'eda080', 'f4908080'].map((hex) => ({
  disks: Buffer.concat([Buffer.from('"disks":[{"fs":"'), Buffer.from(hex, 'hex'), Buffer.from('"}]')]),
}));
