/** A program that has a database open and obeys messages: `fork` it with path, journal mode and busy timeout. */
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { Database } from './sqlite.mjs'

const [, , path, journal, busyMs] = process.argv
const database = new Database(path, { timeout: Number(busyMs) })
if (journal !== 'as it is') database.pragma(`journal_mode = ${journal}`)

/** `generation:checksum:body`, so that a reader detects a value that was never written. */
function signed(generation, size) {
  const body = String.fromCharCode(97 + (generation % 26)).repeat(size)
  return `${generation}:${createHash('md5').update(`${generation}:${body}`).digest('hex')}:${body}`
}

let working = false
let report = Promise.resolve()

/** Commits to a few rows in turn, without a pause, until stopped. */
async function work(sizes) {
  const put = database.prepare('INSERT OR REPLACE INTO conversations VALUES (?, ?)')
  let commits = 0
  let busy = 0
  for (working = true; working; await setImmediate()) {
    const row = commits % sizes.length
    try {
      put.run(`/project/${row}`, signed(commits + 1, sizes[row]))
      commits++
    } catch (error) {
      if (!error.code?.startsWith('SQLITE_BUSY')) throw error
      busy++
    }
  }
  return { commits, busy }
}

const commands = {
  exec: ({ sql }) => void database.exec(sql),
  run: ({ sql, parameters }) => database.prepare(sql).run(...parameters).changes,
  all: ({ sql }) => database.prepare(sql).all(),
  put: ({ key, generation, size }) =>
    database.prepare('INSERT OR REPLACE INTO conversations VALUES (?, ?)').run(key, signed(generation, size)).changes,
  work: ({ sizes }) => {
    report = work(sizes)
  },
  rest: () => {
    working = false
    return report
  },
  close: () => void database.close(),
}

process.on('message', async ({ name, ...rest }) => {
  try {
    process.send({ answer: await commands[name](rest) })
  } catch (error) {
    process.send({ error: error.code ?? error.message })
  }
})
process.on('disconnect', () => process.exit())
process.send({ answer: 'ready' })
