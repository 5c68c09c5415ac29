/** What polkit lets a process in the virtual machine do. */
import type { Machine } from './machine.ts';

/** Asks about every action that the machine has; `pid`: of the process that would act. */
export async function allowedActions(
  vm: Machine,
  pid: string,
): Promise<{ readonly asked: number; readonly allowed: readonly string[] }> {
  const script = `for action in $(pkaction); do
    echo "$action"
    pkcheck --action-id "$action" --process ${pid} >/dev/null 2>&1 && echo "yes $action"
  done; true`;
  const { code, text } = await vm.run(script, 300_000);
  if (code !== 0 || text === '') throw new Error(`polkit can't be asked: ${text}`);
  const lines = text.split('\n');
  const allowed = lines.filter((line) => line.startsWith('yes ')).map((line) => line.slice(4));
  return { asked: lines.length - allowed.length, allowed: allowed.sort() };
}
