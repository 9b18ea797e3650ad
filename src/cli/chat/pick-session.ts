/** `--pick`: chooses a session of any agent from a list, by number or by words. */
import { createInterface } from 'node:readline/promises'
import type { App, SessionEntry } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { refreshIndex } from '../index-queries/refresh-index.ts'
import { say } from '../language.ts'
import { writeErr } from '../output.ts'
import { terminalWidth, truncate } from '../view/table.ts'
import { toTerminalLine } from '../view/text.ts'

const MAX_SHOWN = 20
/** Sessions whose titles and projects are compared with typed words. */
const MAX_LISTED = 5_000

/** @param words narrow the list before it is shown. Throws AppError if nothing is chosen. */
export async function pickSession(app: App, words: string): Promise<string> {
  await refreshIndex(app, 'first', 'an index')
  const { sessions } = app.list({ limit: MAX_LISTED, sort: 'last' })
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const closed = new Promise<undefined>((resolve) => {
    lines.once('close', () => resolve(undefined))
  })
  lines.once('SIGINT', () => lines.close())
  try {
    let shown = await showFirst(await findMatching(app, sessions, words))
    for (;;) {
      const question = say(
        'Number, or words to search for (Enter: cancel): ',
        '番号、または探す語（Enter で取り消し）: ',
      )
      const typed = (await Promise.race([lines.question(question).catch(() => undefined), closed]))?.trim()
      if (!typed) throw new AppError('not_found', 'No session was chosen.', '会話は選ばれませんでした。')
      const chosen = /^\d+$/.test(typed) ? shown[Number(typed) - 1] : undefined
      if (chosen) return chosen.id
      const found = await showFirst(await findMatching(app, sessions, typed))
      if (found.length > 0) shown = found
    }
  } finally {
    lines.close()
  }
}

/** Every word must occur in the title, the project, the agent or the id. */
export function matchSessions<T extends Pick<SessionEntry, 'id' | 'title' | 'project' | 'agent'>>(
  sessions: readonly T[],
  words: string,
): readonly T[] {
  const wanted = words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return sessions.filter(({ id, title = '', project = '', agent }) => {
    const text = `${title} ${project} ${agent} ${id}`.toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
}

/** Those that the words name come first, then those in which they were said. */
export async function findMatching(
  app: App,
  sessions: readonly SessionEntry[],
  words: string,
): Promise<readonly SessionEntry[]> {
  const named = matchSessions(sessions, words)
  if (words.trim() === '') return named
  await refreshIndex(app, 'both')
  const searched = await app.countMatches(words)
  if (searched.kind !== 'found') return named
  const ids = new Set(named.map(({ id }) => id))
  return [...named, ...searched.sessions.flatMap(({ session }) => (ids.has(session.id) ? [] : session))]
}

async function showFirst(found: readonly SessionEntry[]): Promise<readonly SessionEntry[]> {
  const shown = found.slice(0, MAX_SHOWN)
  const width = terminalWidth() - 1
  for (const [at, { title, agent, last_at }] of shown.entries()) {
    const day = last_at?.slice(0, 10) ?? ''
    const text = toTerminalLine(title ?? say('(no title)', '（無題）'))
    await writeErr(`${truncate(`${String(at + 1).padStart(3)}  ${day}  ${agent.padEnd(11)}  ${text}`, width)}\n`)
  }
  if (found.length === 0) await writeErr(say('No matching sessions.\n', '一致する会話はありません。\n'))
  else if (found.length > shown.length)
    await writeErr(
      say(
        `  … ${found.length - shown.length} more; type words to narrow it\n`,
        `  … ほか ${found.length - shown.length} 件。語を入力すると絞り込めます\n`,
      ),
    )
  return shown
}
