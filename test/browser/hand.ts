/** A person at the page, whose actions are counted: each click or tap, and each screen that has to be scrolled. */
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { PHONE } from './browser.ts';

/** How somebody uses a page. */
export type Means = 'mouse' | 'touch' | 'keyboard';

export const SCREENS: Readonly<Record<Means, BrowserContextOptions>> = {
  mouse: { viewport: { width: 1280, height: 900 } },
  touch: PHONE,
  keyboard: { viewport: { width: 1280, height: 900 } },
};

/** The keyboard reaches everything with fewer presses. */
const MOST_PRESSES = 400;

interface Place {
  readonly x: number;
  readonly y: number;
}

export class Hand {
  readonly #page: Page;
  readonly #means: Means;
  /** Clicks or taps, and scrolled screens; not counted for the keyboard. */
  actions = 0;

  constructor(page: Page, means: Means = 'mouse') {
    this.#page = page;
    this.#means = means;
  }

  /** Clicks or taps an element, at a place in it where one is given; by keyboard focuses it and presses Enter. */
  async use(target: Locator, position?: Place): Promise<void> {
    await target.waitFor();
    if (this.#means === 'keyboard') return await this.#press(target);
    await this.#scrollTo(target);
    this.actions++;
    const options = position === undefined ? {} : { position };
    if (this.#means === 'touch') await target.tap(options);
    else await target.click(options);
  }

  /** Moves a slider to a part of its range, from 0 to 1. */
  async slide(target: Locator, part: number): Promise<void> {
    if (this.#means === 'keyboard') {
      await this.focus(target);
      const at = () =>
        target.evaluate(
          (input: HTMLInputElement) =>
            (input.valueAsNumber - Number(input.min)) / (Number(input.max) - Number(input.min)),
        );
      for (
        let presses = 0, now = await at();
        Math.abs(now - part) > 0.02 && presses < MOST_PRESSES;
        presses++
      ) {
        const step = Math.abs(now - part) > 0.12 ? 'Page' : 'Arrow';
        await this.#page.keyboard.press(`${step}${now > part ? 'Down' : 'Up'}`);
        now = await at();
      }
      return;
    }
    const box = await target.boundingBox();
    await this.use(target, { x: part * (box?.width ?? 0), y: (box?.height ?? 0) / 2 });
  }

  /** Presses Tab until the element has the focus; the arrow keys, once another button of its group has it. */
  async focus(target: Locator): Promise<void> {
    const name = await target.evaluate((each) => (each instanceof HTMLInputElement ? each.name : ''));
    for (let presses = 0; presses < MOST_PRESSES; presses++) {
      if (await target.evaluate((each) => each === document.activeElement)) return;
      const isInGroup = await this.#page.evaluate(
        `document.activeElement.type === 'radio' && document.activeElement.name === ${JSON.stringify(name)}`,
      );
      await this.#page.keyboard.press(isInGroup ? 'ArrowRight' : 'Tab');
    }
    throw new Error(`the keyboard does not reach ${await target.evaluate((each) => each.outerHTML)}`);
  }

  async #press(target: Locator): Promise<void> {
    await this.focus(target);
    const type = await target.getAttribute('type');
    // The arrow keys have chosen a radio button already.
    if (type !== 'radio') await this.#page.keyboard.press(type === 'checkbox' ? 'Space' : 'Enter');
  }

  /** Whether the middle of an element is on the screen, below the strip at the top. */
  async sees(target: Locator): Promise<boolean> {
    return (await this.#wayTo(target)) === 0;
  }

  /** Pixels by which the page has to be scrolled, by screens. */
  async #wayTo(target: Locator): Promise<number> {
    const box = await target.boundingBox();
    if (await target.evaluate((each) => each.closest('dialog, .strip') !== null)) return 0;
    const [height, covered] = await this.#page.evaluate<[number, number]>(
      '[innerHeight, document.querySelector(".strip")?.getBoundingClientRect().bottom ?? 0]',
    );
    const middle = (box?.y ?? 0) + (box?.height ?? 0) / 2;
    if (middle < covered) return covered - height;
    return middle < height ? 0 : height - covered;
  }

  async #scrollTo(target: Locator): Promise<void> {
    for (let screens = 0; screens < MOST_PRESSES; screens++) {
      const way = await this.#wayTo(target);
      if (way === 0) return;
      this.actions++;
      await this.#page.evaluate(`scrollBy(0, ${way})`);
    }
    throw new Error('scrolling does not reach the element');
  }
}
