/** The examples on the pages that people copy from: fenced TypeScript, and command lines of curl. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../../../../..');

const PAGES = [
  'README.md',
  'docs/tour.md',
  'docs/api.md',
  'docs/client.md',
  'docs/history.md',
  'docs/websocket.md',
] as const;
type Page = (typeof PAGES)[number];

export interface Example {
  /** `README.md, example 2`. */
  readonly name: string;
  readonly page: Page;
  readonly text: string;
}

const blocksOf = (page: Page) => [
  ...readFileSync(path.join(ROOT, page), 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm),
];

const numbered = (page: Page, texts: readonly string[]): readonly Example[] =>
  texts.map((text, i) => ({ name: `${page}, example ${i + 1}`, page, text }));

/** Programs in TypeScript; plain JavaScript is compiled as TypeScript too. */
export const PROGRAMS: readonly Example[] = PAGES.flatMap((page) =>
  numbered(
    page,
    blocksOf(page).flatMap(([, language = '', text = '']) =>
      /^(?:[jt]sx?|mjs)$/.test(language) ? [text] : [],
    ),
  ),
);

/** The blocks of README.md that are neither programs nor have lines of curl. */
export const OTHER_BLOCKS: readonly string[] = blocksOf('README.md').flatMap(
  ([, language = '', text = '']) =>
    /^(?:[jt]sx?|mjs)$/.test(language) || /^(?:\$ )?curl /m.test(text) ? [] : [text.trim()],
);

/** Command lines that run curl, without the prompt. */
export const CURL_LINES: readonly Example[] = PAGES.flatMap((page) =>
  numbered(
    page,
    blocksOf(page).flatMap(([, , text = '']) =>
      [...text.matchAll(/^(?:\$ )?(curl .*)$/gm)].map(([, line = '']) => line),
    ),
  ),
);
