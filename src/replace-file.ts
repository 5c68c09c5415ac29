/** Replaces a file in one step. */
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';

/**
 * Writes `parts` to `file`, which has its old content or the new one whatever happens on the way. `isSynced`: waits for the
 * disk, so that this also holds where the machine loses power; otherwise it holds where the process is killed. Rejects
 * where it cannot be written.
 */
export async function replaceFile(file: string, parts: Iterable<string>, isSynced = true): Promise<void> {
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.new`);
  await rm(temporary, { force: true });
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      for (const part of parts) await handle.appendFile(part);
      if (isSynced) await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}
