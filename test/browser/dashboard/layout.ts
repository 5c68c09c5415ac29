/** Finds what does not fit on the page. */
import type { Page } from 'playwright-core';
import { until } from '../browser.ts';

/** Layout, drawing and a reading follow a change within this time on a busy machine. */
const SETTLE_MS = 30_000;

/**
 * Before the page's own scripts: keeps the labels of each chart since it was last cleared, in `canvas.labels`, as boxes in
 * the canvas's pixels.
 */
export const RECORD_LABELS = `(() => {
  const drawing = CanvasRenderingContext2D.prototype;
  const { fillText, clearRect } = drawing;
  drawing.clearRect = function (...box) {
    this.canvas.labels = [];
    clearRect.apply(this, box);
  };
  drawing.fillText = function (text, x, y, ...more) {
    const size = this.measureText(text);
    const { e, f } = this.getTransform();
    this.canvas.labels?.push({
      text,
      fontPx: Number.parseFloat(this.font.match(/([\\d.]+)px/)[1]),
      left: x + e - size.actualBoundingBoxLeft,
      right: x + e + size.actualBoundingBoxRight,
      top: y + f - size.actualBoundingBoxAscent,
      bottom: y + f + size.actualBoundingBoxDescent,
    });
    fillText.call(this, text, x, y, ...more);
  };
})()`;

/** In the page: the problems as sentences. */
const findProblems = (labelPx: number): string => `(() => {
  const problems = [];
  const page = document.documentElement;
  if (page.scrollWidth !== page.clientWidth)
    problems.push('the page is ' + page.scrollWidth + ' px wide, of ' + page.clientWidth);

  /** Both dimensions share more than this: the boxes of lines of text touch. */
  const SLACK = 3;
  const overlaps = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > SLACK &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > SLACK;
  const isOutside = (a, b) =>
    a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1;

  /** The part of a box that is not cut off by a scrolling or clipping ancestor. */
  const seenPart = ({ left, right, top, bottom }, from) => {
    let part = { left, right, top, bottom };
    for (let up = from; up !== document.body && up !== null; up = up.parentElement) {
      if (getComputedStyle(up).overflowX === 'visible') continue;
      const clip = up.getBoundingClientRect();
      part = {
        left: Math.max(part.left, clip.left),
        right: Math.min(part.right, clip.right),
        top: Math.max(part.top, clip.top),
        bottom: Math.min(part.bottom, clip.bottom),
      };
    }
    return part.right - part.left > 1 && part.bottom - part.top > 1 ? part : undefined;
  };
  const check = (element, box, what) => {
    const part = seenPart(box, element);
    const frame = element.closest('dialog, .card, .head, .who, .figures, .alarms, main, footer');
    if (part === undefined || frame === null) return undefined;
    if (isOutside(part, frame.getBoundingClientRect()))
      problems.push(what + ' leaves ' + (frame.querySelector('h1, h2')?.textContent ?? frame.className));
    return part;
  };

  const top = document.querySelector('dialog') ?? document.body;
  // Chromium says that what is folded is visible, once its boxes were read.
  const isFolded = (element) => element.closest('details:not([open]) > :not(summary)') !== null;
  const isShown = (element) =>
    element.checkVisibility({ visibilityProperty: true }) && !isFolded(element) && !element.closest('.skip, .unseen');
  const texts = [];
  const walker = document.createTreeWalker(top, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === '' || !isShown(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const part = check(element, box, JSON.stringify(node.data));
      if (part !== undefined) texts.push({ node, ...part });
    }
  }
  texts.forEach((one, i) => {
    for (const other of texts.slice(i + 1))
      if (one.node !== other.node && overlaps(one, other))
        problems.push(JSON.stringify(one.node.data) + ' overlaps ' + JSON.stringify(other.node.data));
  });
  for (const element of top.querySelectorAll('button, input, canvas, img, .bar, .cores i'))
    if (isShown(element)) check(element, element.getBoundingClientRect(), element.tagName + ' ' + element.className);

  for (const canvas of top.querySelectorAll('canvas')) {
    const title = canvas.closest('.card').querySelector('h2').textContent;
    const labels = canvas.labels ?? [];
    if (labels.length === 0) problems.push(title + ' has no labels');
    labels.forEach((label, i) => {
      if (Math.abs(label.fontPx / devicePixelRatio - ${labelPx}) > 0.1)
        problems.push(title + ': ' + label.text + ' is ' + label.fontPx / devicePixelRatio + ' px high');
      if (isOutside(label, { left: 0, top: 0, right: canvas.width, bottom: canvas.height }))
        problems.push(title + ': ' + label.text + ' leaves the chart');
      for (const other of labels.slice(i + 1))
        if (overlaps(label, other)) problems.push(title + ': ' + label.text + ' overlaps ' + other.text);
    });
  }

  // Holes: the page is used, and each card is as high as what is in it.
  const cards = [...document.querySelectorAll('.cards > .card')];
  const boxes = cards.map((card) => card.getBoundingClientRect());
  const used = Math.max(...boxes.map(({ right }) => right)) - Math.min(...boxes.map(({ left }) => left));
  if (boxes.length > 0 && used < 0.9 * page.clientWidth) problems.push('cards take ' + used + ' px of ' + page.clientWidth);
  cards.forEach((card, i) => {
    const { top, bottom, height } = boxes[i];
    const ends = [...card.querySelectorAll('*')].filter(isShown).map((each) => each.getBoundingClientRect().bottom);
    const empty = bottom - Math.min(bottom, Math.max(top, ...ends));
    if (empty > height / 4) problems.push(card.querySelector('h2').textContent + ' is empty below ' + empty + ' px');
    for (const other of boxes.slice(i + 1))
      if (overlaps(boxes[i], other)) problems.push(card.querySelector('h2').textContent + ' overlaps a card');
  });
  return problems;
})()`;

/** Returns the problems of the page once it has none, or those that stay. `labelPx`: the expected size of the labels of charts in pixels. */
export async function problemsOn(page: Page, labelPx = 0): Promise<readonly string[]> {
  const read = () => page.evaluate<readonly string[]>(findProblems(labelPx));
  return await until(read, (found) => found.length === 0, SETTLE_MS).catch(read);
}

/** Makes the screen as high as the page, because charts that are not visible are not drawn. */
export async function setSize(page: Page, width: number, textPercent: number): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await page.evaluate(`document.documentElement.style.fontSize = '${textPercent}%'`);
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  await page.setViewportSize({ width, height });
  // The strip stays above what is scrolled below it.
  await page.evaluate('scrollTo(0, 0)');
}
