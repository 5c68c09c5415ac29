/**
 * The parts of component ids that name a thing: a mount point, an interface, a sensor. Home Assistant knows an entity by its
 * id, so an id depends on nothing but the thing's own name: not on its place in a list, nor on what else there is.
 */
import { createHash } from 'node:crypto';

const MAX_SLUG = 24;
/** 32 bits: of 1,000 names, two have the same digest once in 8,000 machines. */
const DIGEST_LENGTH = 8;
/** Names that are ids as they are. */
const PLAIN = /^[a-z0-9]{1,24}$/;

/** `eth0` as it is; any other name as what is legible of it and a digest: `/media/USB` is media_usb_ and 8 digits. */
export function slugOf(name: string): string {
  if (PLAIN.test(name)) return name;
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .slice(0, MAX_SLUG)
    .replaceAll(/^_+|(?<!_)_+$/g, '');
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_LENGTH);
  return slug === '' ? `x_${digest}` : `${slug}_${digest}`;
}

/** One slug per name. Of things with one name (two GPUs of a model) the second is counted: `#2` is part of its name. */
export function slugsOf(names: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return slugOf(count === 1 ? name : `${name} #${count}`);
  });
}
