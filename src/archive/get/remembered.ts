/** Answers that stay the same until somebody writes. */
import type { Db } from '../open.ts'
import { plucked } from './statements.ts'

const MOST = 64

interface Memory {
  version: number
  readonly answers: Map<string, unknown>
}

const memories = new WeakMap<Db, Memory>()

/** For a connection that only reads, inside of a transaction. @param key tells the question from all others */
export function remembered<T>(db: Db, key: string, ask: () => T): T {
  const version = plucked(db, 'PRAGMA data_version').get() as number
  let memory = memories.get(db)
  if (!memory) {
    memory = { version, answers: new Map() }
    memories.set(db, memory)
  }
  const { answers } = memory
  if (memory.version !== version || answers.size >= MOST) answers.clear()
  memory.version = version
  if (answers.has(key)) return answers.get(key) as T
  const answer = ask()
  answers.set(key, answer)
  return answer
}
