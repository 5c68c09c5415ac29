/** `hostwire top`: shows the values of a service on a terminal. Loaded when it is used. */
import type { Connected, HostSocket } from '../../client/client.ts';
import { jsonText, type Output } from '../output.ts';
import type { Target } from '../target.ts';
import { type Face, judgeTerminal, type Variables } from '../terminal.ts';
import { Display, type Painted, type Program } from './display.ts';
import { HubScene } from './hub-scene.ts';
import { drawScreen, type Size } from './layout.ts';
import { MachineScene } from './machine-scene.ts';
import { drawMachines, listMachines, type Machines, type Samples } from './machines.ts';
import { describeFailure, type Link, openLink } from './open.ts';
import { greeted, readCharts, readView, sendsFlags } from './session.ts';
import { paint } from './text.ts';
import type { View } from './view.ts';

const SIZE: Size = { columns: 80, rows: 24 };

/** Returns the terminal's size; without one that of $COLUMNS and $LINES. */
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

/** Rejects with a sentence if the service cannot be reached, or refuses. */
export async function top(options: TopOptions, program: Program): Promise<Output> {
  const { target } = options;
  const link = await openLink(target);
  const socket = link.open(target.machine);
  try {
    const connected = await greeted(socket);
    if (target.machine !== undefined || sendsFlags(connected))
      return await showMachine(socket, connected, options, program);
    socket.close();
    return await showHub(link, options, program);
  } catch (error) {
    throw new Error(`${target.url}: ${await describeFailure(error, target)}`, { cause: error });
  } finally {
    socket.close();
  }
}

interface Terminal {
  readonly face: Face;
  readonly size: () => Size;
  /** Keys can be pressed. */
  readonly isLive: boolean;
}

function terminalOf({ isOnce, variables }: TopOptions, { stdin, stdout }: Program): Terminal {
  const face = judgeTerminal(variables, stdout.isTTY === true);
  return {
    face,
    size: () => sizeOf(stdout, variables),
    isLive: !isOnce && face.isFull && stdin.isTTY === true,
  };
}

const exitCodeOf = (ended: string | number) => (typeof ended === 'number' ? ended : 0);
const headerOf = (url: string, id: string | undefined) => (id === undefined ? url : `${url}  ${id}`);

async function showMachine(
  socket: HostSocket,
  connected: Connected,
  options: TopOptions,
  program: Program,
): Promise<Output> {
  const { face, size, isLive } = terminalOf(options, program);
  const { url, machine } = options.target;
  const view = await readView(socket, connected, headerOf(url, machine), size().rows);
  if (options.isJson) return { text: jsonText(view.sample), exitCode: 0 };
  if (!isLive) {
    // Without the line of keys.
    const { lines } = paintView(await readCharts(socket, view), size(), face, false);
    return { text: `${lines.slice(0, -1).join('\n')}\n`, isPainted: true, exitCode: 0 };
  }
  const scene = new MachineScene(socket, view, (now) => paintView(now, size(), face, true));
  return { text: '', exitCode: exitCodeOf(await new Display(scene, program).ended) };
}

/** Time in which machines that nobody has watched send their first samples. */
const FIRST_SAMPLES_MS = 2500;

/** Resolves with the samples of all machines that are up, or of those that have sent one in time. */
function firstSamples(link: Pick<Link, 'follow'>): Promise<Samples> {
  return new Promise((resolve) => {
    let samples: Samples = new Map();
    const finish = () => {
      clearTimeout(timer);
      stream.close();
      resolve(samples);
    };
    const timer = setTimeout(finish, FIRST_SAMPLES_MS);
    const stream = link.follow((next) => {
      samples = next;
      if ([...next.values()].every(({ state, sample }) => state !== 'up' || sample !== undefined)) finish();
    });
  });
}

/** Shows the list of machines, and each machine that is opened from it. */
async function showHub(link: Link, options: TopOptions, program: Program): Promise<Output> {
  const { face, size, isLive } = terminalOf(options, program);
  const { url } = options.target;
  const fleet = await link.readFleet();
  const { hosts } = fleet;
  if (options.isJson) return { text: jsonText({ hosts }), exitCode: 0 };
  let list: Machines = { ...fleet, url, samples: new Map(), selected: hosts[0]?.id, offset: 0, note: '' };
  if (!isLive) {
    const lines = listMachines({ ...list, samples: await firstSamples(link) }, size().columns).map((line) =>
      paint(line, face.palette, false),
    );
    return { text: `${lines.join('\n')}\n`, isPainted: true, exitCode: 0 };
  }
  const open = async (id: string) => {
    const socket = link.open(id);
    try {
      const view = await readView(socket, await greeted(socket), headerOf(url, id), size().rows);
      return { socket, view: { ...view, isOfHub: true } };
    } catch (error) {
      socket.close();
      throw error;
    }
  };
  const close = ({ socket }: Awaited<ReturnType<typeof open>>) => socket.close();
  for (;;) {
    const machines = new HubScene(
      { readFleet: link.readFleet, follow: link.follow, open, close },
      list,
      (now) => {
        const { lines, shown } = drawMachines(now, size());
        return { shown, lines: lines.map((line) => paint(line, face.palette, true)) };
      },
    );
    const opened = await new Display(machines, program).ended;
    if (typeof opened === 'number') return { text: '', exitCode: opened };
    list = { ...machines.view, note: '' };
    const machine = new MachineScene(opened.socket, opened.view, (now) => paintView(now, size(), face, true));
    const ended = await new Display(machine, program).ended.finally(() => close(opened));
    if (ended !== 'back') return { text: '', exitCode: ended };
  }
}
