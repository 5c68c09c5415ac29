/** Sensors of a machine made here: chips of hwmon, thermal zones. */
import type { Entry, Tree } from '../helpers/machine/tree.ts';

const linesIn = (folder: string, files: Readonly<Record<string, Entry>>): Tree =>
  Object.fromEntries(
    Object.entries(files).map(([file, entry]) => [
      `${folder}/${file}`,
      typeof entry === 'string' ? `${entry}\n` : entry,
    ]),
  );

export const chip = (number: number, name: Entry, files: Readonly<Record<string, Entry>>): Tree =>
  linesIn(`sys/class/hwmon/hwmon${number}`, { name, ...files });

export const zone = (number: number, type: string, temp: Entry): Tree =>
  linesIn(`sys/class/thermal/thermal_zone${number}`, { type, temp });

/** A processor that has done something. */
export const STAT: Tree = { 'proc/stat': 'cpu  2 0 2 16 0 0 0 0 0 0\ncpu0 1 0 1 8 0 0 0 0 0 0\n' };
