/** The contents of an index in a form that can be compared. */
import type { App } from '../../src/app.ts'
import type { Db } from '../../src/lib/sqlite/own-database.ts'
import { WordCursor } from '../../src/search/segments/blocks.ts'
import { PostingList } from '../../src/search/segments/postings.ts'
import { hideRemoved, loadSegment, readRemovedRows, readSegments } from '../../src/search/text-index/segment-reader.ts'

/** Match text written by `manyLogs`. */
const QUERIES = ['widget3', 'file2 exit', 'line has:error', '検索', 'growing', 'tail']

/**
 * Without values that depend on the order of writing: revisions and row ids.
 * @param isThere leaves out what the index knows of missing sources, which a rebuilt one cannot know
 */
export async function contentOf(app: App, isThere = false): Promise<unknown> {
  const { sessions } = app.list({ limit: 1_000_000, children: 'all', sort: 'started', kind: 'any' })
  const meant = sessions.filter(({ gone }) => !isThere || !gone)
  const reported = meant.map(({ revision: _, path, size, ...session }) => ({
    ...session,
    // Among copies of equal length, the session keeps its previous one.
    ...(!isThere && { path, size }),
    known: app.index.messages(session.id, { limit: 1_000_000 }).map(({ row: _row, ...message }) => message),
  }))
  const ids = new Set<string>(meant.map(({ id }) => id))
  const hits = []
  for (const query of QUERIES) {
    const answer = await app.search(query, { limit: 5000 })
    if (answer.kind === 'problem') throw new Error(answer.what)
    const found = answer.hits.filter(({ session_id }) => ids.has(session_id))
    hits.push(found.map(({ session_id, message_id, scope }) => `${session_id} ${message_id} ${scope}`).sort())
  }
  const filter = isThere ? { ids: meant.map(({ id }) => id) } : {}
  const stats = app.stats({ ...filter, kind: 'any', most: 100_000 })
  // The last digit of costs depends on the order of addition.
  const { cost: _, ...totals } = (await app.totals({ ...filter, kind: 'any' })) ?? {}
  const models = [...new Set(meant.flatMap((session) => session.models))].sort()
  return {
    words: isThere ? [] : app.index.read(wordsIn, []),
    told: reported.sort((a, b) => (a.id < b.id ? -1 : 1)),
    hits,
    stats: stats && {
      ...stats,
      tools: [...stats.tools].sort((a, b) => (a.tool < b.tool ? -1 : 1)),
      longest: [...stats.longest].sort((a, b) => (a.session < b.session ? -1 : 1)),
      ...(isThere && { disk: undefined }),
    },
    totals,
    byModel: models.map((model) => [model, app.list({ ...filter, model, children: 'all' }).total]),
    touches: app
      .fileTouches('file2.ts', 100_000)
      .touched.filter(({ session_id }) => ids.has(session_id))
      .map(({ session_id, message_id, path, how }) => `${session_id} ${message_id} ${path} ${how}`)
      .sort(),
  }
}

/** Each word with its messages and frequencies, whatever segments they are in. */
function wordsIn(db: Db): readonly unknown[] {
  const removed = readRemovedRows(db)
  const words = new Map<string, number>()
  for (const row of readSegments(db)) {
    const segment = loadSegment(db, row)
    const { count, traits, scopes, ofDocument } = segment.messages
    const isThere = new Uint8Array(count).fill(1)
    hideRemoved(removed, segment, isThere)
    let next = row.first_block
    const block = db.prepare('SELECT bytes FROM text_block WHERE id = ?').pluck()
    const cursor = new WordCursor(() =>
      next < row.first_block + row.blocks ? (block.get(next++) as Buffer) : undefined,
    )
    while (cursor.advance()) {
      const word = Buffer.from(cursor.word.subarray(0, cursor.length)).toString()
      const list = new PostingList()
      cursor.postings(list)
      for (let at = 0; at < list.count; at++) {
        const document = list.documents[at] ?? 0
        const message = ofDocument[document] ?? 0
        if (isThere[message] !== 1) continue
        const key = `${word} ${traits[message]} ${scopes[document]} ${list.frequencies[at]}`
        words.set(key, (words.get(key) ?? 0) + 1)
      }
    }
  }
  return [...words].sort()
}
