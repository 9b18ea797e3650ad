/** The entries of a conversation: a tree, because generations that share a beginning share its entries. */
import type { Statement } from 'better-sqlite3'
import type { Db } from '../lib/sqlite/own-database.ts'

export interface StoredEntry {
  readonly id: number
  readonly parent: StoredEntry | undefined
  /** Hash of what was said, hex. */
  readonly identity: string
  /** How it was spelt when it was last seen. */
  piece: number
}

interface EntryRow {
  readonly id: number
  readonly parent_id: number | null
  readonly identity: Buffer
  readonly piece_id: number
  readonly hash: Buffer
}

/** All entries of one conversation, in memory. */
export class EntryTree {
  /** Identity by hash of the bytes, for every spelling ever seen. */
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

  /** @param hash of the bytes */
  identityOf(hash: string): string | undefined {
    return this.#known.get(hash)
  }

  entry(id: number): StoredEntry | undefined {
    return this.#entries.get(id)
  }

  child(parent: StoredEntry | undefined, identity: string): StoredEntry | undefined {
    return this.#children.get(childKey(parent, identity))
  }

  /** From the first entry to this one. */
  path(head: number | null): readonly StoredEntry[] {
    const path: StoredEntry[] = []
    for (let at = head === null ? undefined : this.#entries.get(head); at; at = at.parent) path.push(at)
    return path.reverse()
  }
}

const childKey = (parent: StoredEntry | undefined, identity: string): string => `${parent?.id ?? 0} ${identity}`

export class EntryTable {
  readonly #all: Statement<[number], EntryRow>
  readonly #older: Statement<[number], { identity: Buffer; hash: Buffer }>
  readonly #insert: Statement<[number, number | null, Buffer, number]>
  readonly #remember: Statement<[number, number]>
  readonly #respell: Statement<[number, number]>
  readonly #spellings: Statement<{ id: number }, { piece_id: number }>

  constructor(db: Db) {
    this.#all = db.prepare(
      `SELECT entry.id, parent_id, identity, piece_id, hash FROM entry JOIN piece ON piece.id = piece_id
       WHERE conversation_id = ? ORDER BY entry.id`,
    )
    this.#older = db.prepare(
      `SELECT identity, hash FROM entry
       JOIN spelling ON entry_id = entry.id JOIN piece ON piece.id = spelling.piece_id
       WHERE conversation_id = ?`,
    )
    this.#insert = db.prepare('INSERT INTO entry (conversation_id, parent_id, identity, piece_id) VALUES (?, ?, ?, ?)')
    this.#remember = db.prepare('INSERT OR IGNORE INTO spelling (entry_id, piece_id) VALUES (?, ?)')
    this.#respell = db.prepare('UPDATE entry SET piece_id = ? WHERE id = ?')
    this.#spellings = db.prepare(
      `SELECT piece_id FROM entry WHERE id = :id
       UNION ALL
       SELECT spelling.piece_id FROM spelling JOIN entry ON entry.id = entry_id
       WHERE entry_id = :id AND spelling.piece_id <> entry.piece_id`,
    )
  }

  treeOf(conversation: number | undefined): EntryTree {
    const tree = new EntryTree()
    if (conversation === undefined) return tree
    // Parents come before their children: an entry is added after the one it follows.
    for (const row of this.#all.iterate(conversation))
      tree.add({
        id: row.id,
        parent: row.parent_id === null ? undefined : tree.entry(row.parent_id),
        identity: row.identity.toString('hex'),
        piece: row.piece_id,
        hash: row.hash.toString('hex'),
      })
    for (const row of this.#older.iterate(conversation))
      tree.spell(row.identity.toString('hex'), row.hash.toString('hex'))
    return tree
  }

  /** The entry that follows `parent`, with these bytes as its spelling; added when there is none. */
  addAfter(
    tree: EntryTree,
    conversation: number,
    parent: StoredEntry | undefined,
    found: { identity: string; piece: number; hash: string },
  ): StoredEntry {
    const entry = tree.child(parent, found.identity)
    if (!entry) {
      const identity = Buffer.from(found.identity, 'hex')
      const { lastInsertRowid } = this.#insert.run(conversation, parent?.id ?? null, identity, found.piece)
      return tree.add({ id: Number(lastInsertRowid), parent, ...found })
    }
    if (entry.piece !== found.piece) {
      this.#remember.run(entry.id, entry.piece)
      this.#respell.run(found.piece, entry.id)
      entry.piece = found.piece
      tree.spell(found.identity, found.hash)
    }
    return entry
  }

  /** The newest spelling first. */
  spellings(entry: StoredEntry): readonly number[] {
    return this.#spellings.all({ id: entry.id }).map((row) => row.piece_id)
  }
}
