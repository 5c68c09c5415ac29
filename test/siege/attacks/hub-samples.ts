/** Data of samples as a machine sends them to a hub, sound and wrong. */
const MEMBERS = {
  cpu: '"cpu":{"current_load":1,"current_temp":51.2,"current_speed":3.4}',
  memory: '"memory":{"used":1154760704,"free":24121266176,"used_percent":4.6}',
  gpu: '"gpu":null',
  disks: '"disks":[{"fs":"/","used":1,"available":1,"used_percent":50}]',
  network: '"network":{"bytesRecv":1,"bytesSent":1}',
};

export type Members = Partial<Record<keyof typeof MEMBERS, string | Buffer>>;

/** A sample of all sections, with other members in the place of some. `more`: members beside its time. */
export function sampleBytes(wrong: Members = {}, more = ''): Buffer {
  const begin = `{"timestamp":${Math.floor(Date.now() / 1000)},"uptime":2311${more}`;
  const members = Object.values({ ...MEMBERS, ...wrong }).flatMap((member) => [
    Buffer.from(','),
    Buffer.from(member),
  ]);
  return Buffer.concat([Buffer.from(begin), ...members, Buffer.from('}')]);
}

const NESTED = `${'['.repeat(5000)}${']'.repeat(5000)}`;

/** Sections of wrong types, twice, nested too deep, and what is no member. */
export const WRONG: readonly Members[] = [
  { disks: '"disks":null' },
  { cpu: '"cpu":null' },
  { memory: '"memory":[]' },
  { network: '"network":"none"' },
  { disks: '"disks":[null]' },
  { cpu: '"cpu":{"current_load":"1"}' },
  { disks: '"disks":[{"x":1', gpu: '"gpu":2}]' },
  { cpu: `"cpu":{"x":${NESTED}}` },
  { disks: '"disks":[],"disks":null' },
  { cpu: '"cpu":{"current_load":1e999}' },
  { disks: '"disks":' },
  { disks: '"disks":[]},"x":{' },
  { cpu: '' },
];

/** Mount points that are not UTF-8: bytes alone, in a pair of halves, and a surrogate. */
export const NO_UTF8: readonly Members[] = ['ff', 'c3', 'c328', 'eda080', 'f4908080'].map((hex) => ({
  disks: Buffer.concat([Buffer.from('"disks":[{"fs":"'), Buffer.from(hex, 'hex'), Buffer.from('"}]')]),
}));
