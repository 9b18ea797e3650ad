/**
 * Enters a house in a process of its own and does one thing there: `visitor.mjs <home> <data> <what> [word]`. Says what came of it as one
 * line of JSON, `{"error", "message"}` where it could not be done.
 */
import { House } from '../../dist/app.js'

const [, , home, data, what, word] = process.argv
const house = new House({ platform: 'linux', home, variables: { FUMI_HOME: data, XDG_DATA_HOME: `${home}/data` } })
const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`)

const doors = {
  sync: async () => say(await house.sync()),
  async read() {
    const { total, sessions } = house.list({ children: 'all', kind: 'any' })
    const bodies = []
    for (const { id } of sessions) for (const { kind } of await house.messages(id)) bodies.push(kind)
    const found = await house.search(word ?? 'answer', { limit: 5 })
    say({
      total,
      bodies: bodies.filter((kind) => kind === 'body').length,
      hits: found.total,
      kept: house.keep.list().length,
    })
  },
  /** Until it is told to stop. */
  async watch() {
    const watch = await house.watch({ onProblem: ({ code, message }) => say({ problem: code, message }) })
    if (watch.kind === 'held') return say(watch)
    await watch.ready
    say({ kind: 'watching' })
    await new Promise((done) => process.stdin.once('data', done))
    await watch.close()
    say({ kind: 'closed' })
    process.stdin.destroy()
  },
  /** Reads again and again until it is told to stop; every session must be whole or not there. */
  async stare() {
    let isOver = false
    process.stdin.once('data', () => {
      isOver = true
    })
    let looks = 0
    const wrong = []
    say({ kind: 'staring' })
    while (!isOver) {
      const totals = await house.totals({ kind: 'any' })
      house.list({ children: 'all', kind: 'any', limit: 1 })
      looks++
      // Each log of `manyLogs` has one hundred and ten tokens for each turn: a sum that is no multiple of it is half a batch.
      if (totals && totals.usage.total_tokens % 110 !== 0) wrong.push(totals.usage.total_tokens)
      for (const { id, indexed, messages } of house.list({ children: 'all', kind: 'any', limit: 3 }).sessions) {
        const rows = house.index
          .messages(id, { limit: 100_000 })
          .filter(({ role, duplicate }) => !duplicate && (role === 'user' || role === 'assistant'))
        if (house.session(id)?.indexed && indexed && rows.length !== messages) wrong.push([id, rows.length, messages])
      }
      await new Promise((done) => setImmediate(done))
    }
    say({ looks, wrong })
    process.stdin.destroy()
  },
}

try {
  await doors[what]()
} catch (error) {
  say({ error: error.code ?? 'bug', message: error.message, ...(error.name !== 'AppError' && { stack: error.stack }) })
}
house.close()
