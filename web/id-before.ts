/** Pages of the list of machines are in the order of their ids. Pure. */

/** The characters of ids, in their order. */
const ID_CHARACTERS = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const MAX_ID_LENGTH = 64;

/** Returns the greatest text before `id` in the order of ids: a page of one row after it is that of `id`. */
export function idBefore(id: string): string {
  const rest = id.slice(0, -1);
  const at = ID_CHARACTERS.indexOf(id.slice(-1));
  return at < 1 ? rest : `${rest}${ID_CHARACTERS[at - 1]}`.padEnd(MAX_ID_LENGTH, 'z');
}
