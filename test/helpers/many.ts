/** Assertions in loops of thousands: one that holds costs no line of TAP, which takes 1 ms to write and to read. */
import { isDeepStrictEqual } from 'node:util';
import t, { type Test } from 'tap';

export class Many {
  readonly #t: Pick<Test, 'fail' | 'ok' | 'equal' | 'match' | 'notMatch' | 'strictSame'>;
  #count = 0;

  constructor(t: Pick<Test, 'fail' | 'ok' | 'equal' | 'match' | 'notMatch' | 'strictSame'>) {
    this.#t = t;
  }

  get count(): number {
    return this.#count;
  }

  #judge(isGood: boolean, complain: () => void): void {
    this.#count++;
    if (!isGood) complain();
  }

  fail(text: string): void {
    this.#judge(false, () => this.#t.fail(text));
  }

  ok(isGood: unknown, text: string): void {
    this.#judge(Boolean(isGood), () => this.#t.fail(text));
  }

  equal(found: unknown, wanted: unknown, text = 'as expected'): void {
    this.#judge(Object.is(found, wanted), () => this.#t.equal(found, wanted, text));
  }

  strictSame(found: unknown, wanted: unknown, text = 'as expected'): void {
    this.#judge(isDeepStrictEqual(found, wanted), () => this.#t.strictSame(found, wanted, text));
  }

  match(found: string, wanted: RegExp | string, text = 'the text'): void {
    const isGood = typeof wanted === 'string' ? found.includes(wanted) : wanted.test(found);
    this.#judge(isGood, () => this.#t.fail(`${text}: ${wanted} is not there`));
  }

  notMatch(found: string, unwanted: RegExp, text = 'the text'): void {
    this.#judge(!unwanted.test(found), () =>
      this.#t.fail(`${text}: ${unwanted.exec(found)?.[0]} (${unwanted})`),
    );
  }
}

/** A test whose assertions are counted; without any it fails. */
export function testMany(name: string, body: (t: Many) => Promise<void>): void {
  t.test(name, async (t) => {
    const many = new Many(t);
    await body(many);
    t.ok(many.count > 0, `${many.count} assertions`);
  });
}
