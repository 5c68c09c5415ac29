/** Marks and events as rows. */
import { REMEMBERED } from '../../fairness/limits.ts';
import type { HistoryEvent, HistoryMark } from '../../wire/history.ts';
import type { Database } from './database.ts';
import { numberIn, textIn } from './sqlite.ts';

/** Maximum number in one answer. */
const MAX_READ = 2000;

export function addNotes(
  database: Database,
  marks: readonly HistoryMark[],
  events: readonly HistoryEvent[],
): void {
  const add = (kind: string, note: HistoryMark | HistoryEvent) =>
    database.run('INSERT INTO notes (at, kind, data) VALUES (?, ?, ?)', note.at, kind, JSON.stringify(note));
  for (const mark of marks) add('mark', mark);
  for (const event of events) add('event', event);
  if (marks.length + events.length === 0) return;
  const newest = numberIn(database.get('SELECT max(id) AS id FROM notes'), 'id') ?? 0;
  database.run('DELETE FROM notes WHERE id <= ?', newest - REMEMBERED.notes);
}

export function readNotes(database: Database, from: number, until: number) {
  const marks: HistoryMark[] = [];
  const events: HistoryEvent[] = [];
  const sql = 'SELECT kind, data FROM notes WHERE at >= ? AND at < ? ORDER BY at DESC, id DESC LIMIT ?';
  for (const row of database.rows(sql, from, until, MAX_READ)) {
    // As addNotes wrote them.
    const note: unknown = JSON.parse(textIn(row, 'data'));
    if (textIn(row, 'kind') === 'mark') marks.push(note as HistoryMark);
    else events.push(note as HistoryEvent);
  }
  return { marks: marks.reverse(), events: events.reverse() };
}
