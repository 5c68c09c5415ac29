/** `hostwire top`: what a service reports, on a terminal. Loaded when it is used, in a bundle of its own. */
import { jsonText, type Output } from '../output.ts';
import type { Target } from '../reach.ts';
import { Display, type Painted, type Program } from './display.ts';
import { drawScreen, type Size } from './layout.ts';
import { describeFailure, openSocket } from './open.ts';
import { readCharts, readView } from './session.ts';
import { type Palette, paint } from './text.ts';
import type { View } from './view.ts';

type Variables = Readonly<Record<string, string | undefined>>;

export interface Face {
  readonly palette: Palette;
  readonly isAscii: boolean;
  /** The cursor can be moved. */
  readonly isFull: boolean;
}

const SIZE: Size = { columns: 80, rows: 24 };

/** What the terminal can show. */
export function judgeTerminal(variables: Variables, isTerminal: boolean): Face {
  const isFull = isTerminal && variables['TERM'] !== 'dumb';
  const locale = variables['LC_ALL'] || variables['LC_CTYPE'] || variables['LANG'] || 'UTF-8';
  return {
    isFull,
    palette: !isFull ? 'none' : variables['NO_COLOR'] ? 'attributes' : 'colours',
    // The console of Linux has no braille.
    isAscii: variables['TERM'] === 'linux' || !/utf-?8/i.test(locale),
  };
}

/** The terminal's size; without one that of $COLUMNS and $LINES. */
function sizeOf({ columns, rows }: Partial<Size>, variables: Variables): Size {
  const given = (name: string) => Number(/^[1-9]\d{0,3}$/.exec(variables[name] ?? '')?.[0] ?? 0);
  return {
    columns: columns || given('COLUMNS') || SIZE.columns,
    rows: rows || given('LINES') || SIZE.rows,
  };
}

const paintView = (view: View, size: Size, { palette, isAscii }: Face, isPlaced: boolean): Painted => {
  const { lines, shown } = drawScreen(view, size, isAscii);
  return { shown, lines: lines.map((line) => paint(line, palette, isPlaced)) };
};

export interface TopOptions {
  readonly target: Target;
  readonly isOnce: boolean;
  readonly isJson: boolean;
  readonly variables: Variables;
}

/** Rejects with a sentence where the service cannot be reached, or refuses. */
export async function top(
  { target, isOnce, isJson, variables }: TopOptions,
  program: Program,
): Promise<Output> {
  const { stdin, stdout } = program;
  const face = judgeTerminal(variables, stdout.isTTY === true);
  const size = () => sizeOf(stdout, variables);
  const socket = await openSocket(target);
  try {
    const view = await readView(socket, target.url, size().rows);
    if (isJson) return { text: jsonText(view.sample), exitCode: 0 };
    if (isOnce || !face.isFull || stdin.isTTY !== true)
      return {
        text: textOf(paintView(await readCharts(socket, view), size(), face, false)),
        isPainted: true,
        exitCode: 0,
      };
    const display = new Display(socket, view, program, (now) => paintView(now, size(), face, true));
    return { text: '', exitCode: await display.ended };
  } catch (error) {
    throw new Error(`${target.url}: ${await describeFailure(error, target)}`, { cause: error });
  } finally {
    socket.close();
  }
}

/** Without the line of keys. */
const textOf = ({ lines }: Painted) => `${lines.slice(0, -1).join('\n')}\n`;
