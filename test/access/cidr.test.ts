/** A million random addresses against random lists, compared with BigInt arithmetic. */
import t from 'tap';
import { matches, parseAddress, parseAddressList } from '#src/access/addresses.js';
import { createRandom, type Random, repetitions } from '../helpers/random.ts';

const PAIRS = 1_000_000;
const ADDRESSES_PER_LIST = 100;

interface Rule {
  readonly family: 4 | 6;
  readonly value: bigint;
  readonly prefix: number;
}

function randomBits(random: Random, bits: number): bigint {
  let value = 0n;
  for (let done = 0; done < bits; done += 32) value = (value << 32n) | BigInt(random.word());
  return value;
}

function bitsOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

function dotted(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => ((value >> shift) & 255n).toString()).join('.');
}

function groups(value: bigint): string[] {
  const digits = value.toString(16).padStart(32, '0');
  return digits.match(/.{4}/g) ?? [];
}

/** Writes it in one of several forms: dotted, mapped, in full as uWebSockets.js does, or with zeros left out. */
function write(random: Random, family: 4 | 6, value: bigint): string {
  if (family === 4) {
    const form = random.below(3);
    if (form === 0) return dotted(value);
    return form === 1 ? `::ffff:${dotted(value)}` : groups((0xffffn << 32n) | value).join(':');
  }
  const full = groups(value);
  return random.below(2) === 0 ? full.join(':') : full.map((group) => group.replace(/^0{1,3}/, '')).join(':');
}

/** An IPv6 address in the mapped block would count as IPv4, so those are made as IPv4. */
function randomSix(random: Random): bigint {
  const value = randomBits(random, 128);
  return value >> 32n === 0xffffn ? value + (1n << 100n) : value;
}

function randomRule(random: Random): Rule {
  const family = random.below(2) === 0 ? 4 : 6;
  const bits = bitsOf(family);
  const value = family === 4 ? randomBits(random, 32) : randomSix(random);
  const prefix = random.below(3) === 0 ? bits : random.below(bits + 1);
  const hostBits = BigInt(bits - prefix);
  return { family, value: (value >> hostBits) << hostBits, prefix };
}

function writeRule(random: Random, rule: Rule): string {
  const text = write(random, rule.family, rule.value);
  const prefix = rule.family === 4 && text.includes(':') ? rule.prefix + 96 : rule.prefix;
  const isSingle = rule.prefix === bitsOf(rule.family) && random.below(2) === 0;
  return isSingle ? text : `${text}/${prefix}`;
}

/** Half of the addresses lie near the edge of a rule: inside it, its last, the one after it, the one before it. */
function randomAddress(random: Random, rules: readonly Rule[]): { family: 4 | 6; value: bigint } {
  const rule = random.pick(rules);
  const size = 1n << BigInt(bitsOf(rule.family) - rule.prefix);
  const limit = 1n << BigInt(bitsOf(rule.family));
  const places = [
    rule.value,
    rule.value + size - 1n,
    rule.value + size,
    rule.value - 1n + limit,
    rule.value + (randomBits(random, 128) % size),
    randomBits(random, 128),
  ];
  const value = random.pick(places) % limit;
  const isMapped = rule.family === 6 && value >> 32n === 0xffffn;
  return isMapped ? { family: 4, value: value & 0xffffffffn } : { family: rule.family, value };
}

function isHeld(rules: readonly Rule[], family: 4 | 6, value: bigint): boolean {
  return rules.some((rule) => {
    const shift = BigInt(bitsOf(rule.family) - rule.prefix);
    return rule.family === family && rule.value >> shift === value >> shift;
  });
}

// Ten seconds of work; a busy machine may take many times as long.
t.setTimeout(280_000);

t.test('1.addresses-property a million pairs', { timeout: 240_000 }, async (t) => {
  const seed = 1_000_003;
  const random = createRandom(seed);
  const count = repetitions(t, PAIRS, seed);
  const wrong: string[] = [];
  let held = 0;
  for (let pairs = 0; pairs < count; pairs += ADDRESSES_PER_LIST) {
    const rules = Array.from({ length: 1 + random.below(8) }, () => randomRule(random));
    const written = rules.map((rule) => writeRule(random, rule));
    const list = parseAddressList(written, true);
    if (list.problems.length > 0) wrong.push(...written);
    for (let each = 0; each < ADDRESSES_PER_LIST; each++) {
      const { family, value } = randomAddress(random, rules);
      const text = write(random, family, value);
      const address = parseAddress(text);
      const expected = isHeld(rules, family, value);
      if (expected) held += 1;
      if (address === undefined || matches(list.rules, address) !== expected)
        wrong.push(`${text} in ${written}`);
    }
  }
  t.same(wrong.slice(0, 5), []);
  t.ok(held > count / 4 && held < (count * 3) / 4, `${held} of ${count} are held`);
});
