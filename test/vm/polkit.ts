/** The actions that polkit allows a process in the virtual machine. */
import type { Machine } from './machine.ts';

/** Asks about every action that the machine has; `pid`: of the process that would act. */
export async function allowedActions(
  vm: Machine,
  pid: string,
): Promise<{ readonly asked: number; readonly allowed: readonly string[] }> {
  // Two at a time: the machine has two processors, and polkitd takes one of them.
  const ask = `pkcheck --action-id "$1" --process ${pid} >/dev/null 2>&1 && echo "yes $1" || echo "no $1"`;
  const script = `pkaction | xargs -P 2 -I{} bash -c '${ask}' bash {}`;
  const { code, text } = await vm.run(script, 300_000);
  if (code !== 0 || text === '') throw new Error(`polkit can't be asked: ${text}`);
  const lines = text.split('\n');
  const allowed = lines.filter((line) => line.startsWith('yes ')).map((line) => line.slice(4));
  return { asked: lines.length, allowed: allowed.sort() };
}
