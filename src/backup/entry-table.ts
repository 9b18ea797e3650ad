/** The entries of a conversation, as a tree: generations with the same beginning share its entries. */
import type { Db } from '../lib/sqlite/own-database.ts'
import { getRows, getValues, insertRow, runStatement } from '../lib/sqlite/statements.ts'

export interface StoredEntry {
  readonly id: number
  readonly parent: StoredEntry | undefined
  /** Hash of the entry's content, hex. */
  readonly identity: string
  /** The last spelling of the entry. */
  piece: number
}

interface EntryRow {
  readonly id: number
  readonly parent_id: number | null
  readonly identity: string
  readonly piece_id: number
  readonly hash: string
}

/** All entries of one conversation, in memory. */
export class EntryTree {
  /** Hash of the bytes to identity, for every known spelling. */
  readonly #known = new Map<string, string>()
  readonly #entries = new Map<number, StoredEntry>()
  readonly #children = new Map<string, StoredEntry>()

  add(row: {
    id: number
    parent: StoredEntry | undefined
    identity: string
    piece: number
    hash: string
  }): StoredEntry {
    const { id, parent, identity, piece, hash } = row
    const entry: StoredEntry = { id, parent, identity, piece }
    this.#entries.set(id, entry)
    this.#children.set(childKey(parent, identity), entry)
    this.spell(identity, hash)
    return entry
  }

  spell(identity: string, hash: string): void {
    if (!this.#known.has(hash)) this.#known.set(hash, identity)
  }

  /** @param hash hash of the bytes */
  identityOf(hash: string): string | undefined {
    return this.#known.get(hash)
  }

  entry(id: number): StoredEntry | undefined {
    return this.#entries.get(id)
  }

  child(parent: StoredEntry | undefined, identity: string): StoredEntry | undefined {
    return this.#children.get(childKey(parent, identity))
  }

  /** Entries from the first one to `head`. */
  path(head: number | null): readonly StoredEntry[] {
    const path: StoredEntry[] = []
    for (let at = head === null ? undefined : this.#entries.get(head); at; at = at.parent) path.push(at)
    return path.reverse()
  }
}

const childKey = (parent: StoredEntry | undefined, identity: string): string => `${parent?.id ?? 0} ${identity}`

export class EntryTable {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  treeOf(conversation: number | undefined): EntryTree {
    const tree = new EntryTree()
    if (conversation === undefined) return tree
    // Ordered by id, so that parents come before their children.
    const entries = getRows<EntryRow>(
      this.#db,
      `SELECT entry.id, parent_id, lower(hex(identity)) AS identity, piece_id, lower(hex(hash)) AS hash
       FROM entry JOIN piece ON piece.id = piece_id WHERE conversation_id = ? ORDER BY entry.id`,
      conversation,
    )
    for (const { id, parent_id, identity, piece_id, hash } of entries)
      tree.add({ id, parent: parent_id === null ? undefined : tree.entry(parent_id), identity, piece: piece_id, hash })
    const older = getRows<Pick<EntryRow, 'identity' | 'hash'>>(
      this.#db,
      `SELECT lower(hex(identity)) AS identity, lower(hex(hash)) AS hash FROM entry
       JOIN spelling ON entry_id = entry.id JOIN piece ON piece.id = spelling.piece_id WHERE conversation_id = ?`,
      conversation,
    )
    for (const { identity, hash } of older) tree.spell(identity, hash)
    return tree
  }

  /** Returns the entry with this content after `parent` and sets its spelling. Adds it if missing. */
  addAfter(
    tree: EntryTree,
    conversation: number,
    parent: StoredEntry | undefined,
    found: { identity: string; piece: number; hash: string },
  ): StoredEntry {
    const entry = tree.child(parent, found.identity)
    if (!entry) {
      const identity = Buffer.from(found.identity, 'hex')
      const sql = 'INSERT INTO entry (conversation_id, parent_id, identity, piece_id) VALUES (?, ?, ?, ?)'
      const id = insertRow(this.#db, sql, conversation, parent?.id ?? null, identity, found.piece)
      return tree.add({ id, parent, ...found })
    }
    if (entry.piece !== found.piece) {
      const { id, piece } = entry
      runStatement(this.#db, 'INSERT OR IGNORE INTO spelling (entry_id, piece_id) VALUES (?, ?)', id, piece)
      runStatement(this.#db, 'UPDATE entry SET piece_id = ? WHERE id = ?', found.piece, id)
      entry.piece = found.piece
      tree.spell(found.identity, found.hash)
    }
    return entry
  }

  /** Newest spelling first. */
  spellings(entry: StoredEntry): readonly number[] {
    return getValues(
      this.#db,
      `SELECT piece_id FROM entry WHERE id = :id
       UNION ALL
       SELECT spelling.piece_id FROM spelling JOIN entry ON entry.id = entry_id
       WHERE entry_id = :id AND spelling.piece_id <> entry.piece_id`,
      { id: entry.id },
    )
  }
}
