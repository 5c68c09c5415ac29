/** The tables of the file, and the marks that distinguish it from other databases. */

/** "hwhi", at offset 68 of the file (https://www.sqlite.org/fileformat2.html#application_id). */
export const APPLICATION_ID = 0x68776869;
/** A file of a later version is refused; an earlier version does not exist yet. */
export const VERSION = 1;

/** Each row has the summaries of the four quarters of a day (UTC), made from its spans. A file of an earlier version has none. */
export const DAYS = 'CREATE TABLE IF NOT EXISTS days (at INTEGER PRIMARY KEY, data BLOB NOT NULL)';

/**
 * `minutes` and `spans` have one blob per row (blobs.ts), keyed by the Unix second of their start. `series.seen` is the
 * last day with a value: names that no row uses any longer are removed. `processes` has the readings of a minute as
 * JSON, deflated; `notes` has marks and events as JSON. auto_vacuum returns the pages of deleted rows to the filesystem
 * when the limit is lowered.
 */
export const SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE series (id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL, seen INTEGER NOT NULL, UNIQUE (name, unit));
CREATE TABLE minutes (at INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE spans (at INTEGER PRIMARY KEY, data BLOB NOT NULL);
${DAYS};
CREATE TABLE processes (at INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE notes (id INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL);
CREATE INDEX notes_at ON notes (at);
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${VERSION};
`;

/** The last use of each key: Unix milliseconds, and the client's address. */
export const KEY_USES =
  'CREATE TABLE IF NOT EXISTS key_uses (name TEXT PRIMARY KEY, at REAL NOT NULL, address TEXT NOT NULL) WITHOUT ROWID';

/** Settings of the connection. The lock is held until it is closed, so that two services never write one file. */
export const SETTINGS = `
PRAGMA busy_timeout = 2000;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -512;
PRAGMA temp_store = MEMORY;
`;

/** Pages of the write-ahead log after which they are moved into the file: 1 MiB. */
export const CHECKPOINT_PAGES = 256;
export const JOURNAL = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
PRAGMA journal_size_limit = ${2 ** 20};
`;
