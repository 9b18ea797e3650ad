/**
 * Runs one task of the app in a separate process: `app-process.mjs <home> <data> <what> [word]`. Prints the result as
 * one line of JSON, or `{"error", "message"}`.
 */
import { App } from '../../dist/app.js'

const [, , home, data, what, word] = process.argv
const app = new App({ platform: 'linux', home, variables: { FUMI_HOME: data, XDG_DATA_HOME: `${home}/data` } })
const report = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`)

const tasks = {
  sync: async () => report(await app.sync()),
  async read() {
    const { total, sessions } = app.list({ children: 'all', kind: 'any' })
    const bodies = []
    for (const { id } of sessions) for (const { kind } of await app.messages(id)) bodies.push(kind)
    const found = await app.search(word ?? 'answer', { limit: 5 })
    report({
      total,
      bodies: bodies.filter((kind) => kind === 'body').length,
      hits: found.total,
      kept: app.backup.list().length,
    })
  },
  /** Runs until told to stop. */
  async watch() {
    const watch = await app.watch({ onProblem: ({ code, message }) => report({ problem: code, message }) })
    if (watch.kind === 'held') return report(watch)
    await watch.ready
    report({ kind: 'watching' })
    await new Promise((done) => process.stdin.once('data', done))
    await watch.close()
    report({ kind: 'closed' })
    process.stdin.destroy()
  },
  /** Reads repeatedly until told to stop; every session must be complete or absent. */
  async stare() {
    let isOver = false
    process.stdin.once('data', () => {
      isOver = true
    })
    let looks = 0
    const wrong = []
    report({ kind: 'staring' })
    while (!isOver) {
      const totals = await app.totals({ kind: 'any' })
      app.list({ children: 'all', kind: 'any', limit: 1 })
      looks++
      // Each turn of `manyLogs` has 110 tokens, so any other sum means that a batch was seen half written.
      if (totals && totals.usage.total_tokens % 110 !== 0) wrong.push(totals.usage.total_tokens)
      for (const { id, indexed, messages } of app.list({ children: 'all', kind: 'any', limit: 3 }).sessions) {
        const rows = app.index
          .messages(id, { limit: 100_000 })
          .filter(({ role, duplicate }) => !duplicate && (role === 'user' || role === 'assistant'))
        if (app.session(id)?.indexed && indexed && rows.length !== messages) wrong.push([id, rows.length, messages])
      }
      await new Promise((done) => setImmediate(done))
    }
    report({ looks, wrong })
    process.stdin.destroy()
  },
}

try {
  await tasks[what]()
} catch (error) {
  report({
    error: error.code ?? 'bug',
    message: error.message,
    ...(error.name !== 'AppError' && { stack: error.stack }),
  })
}
app.close()
