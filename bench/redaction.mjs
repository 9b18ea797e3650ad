/** Measures redaction: the search for secrets alone, and a session that is redacted completely. */
import { join } from 'node:path'
import { inOwnProcess } from './library.mjs'
import { generate } from './logs.mjs'
import { atMost } from './targets.mjs'

/** 30 MB/s. */
const TARGET_MS_PER_MB = 1000 / 30

/** @returns {{ note: string, rows: import('./targets.mjs').Row[] }} */
export function benchRedaction(work, logs, runs, isQuick) {
  const folder = logs ?? generate(join(work, 'redaction'), isQuick ? 5 : 20)
  const script = `
    import { measureRedaction } from ${JSON.stringify(import.meta.url)}
    console.log(JSON.stringify(await measureRedaction(${JSON.stringify(folder)}, ${runs})))`
  const { texts, messages } = inOwnProcess(script, 'redaction')
  return {
    note: 'CPU time in one process, the fastest of several runs: texts as the redaction gets them; messages as JSON, read once to learn and once to replace.',
    rows: [
      atMost('find secrets, CPU per MB of text', TARGET_MS_PER_MB, texts, 'ms'),
      atMost('redact a session completely, CPU per MB of messages', 2 * TARGET_MS_PER_MB, messages, 'ms'),
    ],
  }
}

/** Runs in its own process. */
export async function measureRedaction(folder, runs) {
  const [{ logsAt, readLog }, { Redactor }, { findInField }, { TextCollector }, { namesSecret }] = await Promise.all([
    import('../dist/normalize.js'),
    import('../dist/redact/redactor.js'),
    import('../dist/redact/find/find-in-field.js'),
    import('../dist/redact/message-texts.js'),
    import('../dist/redact/secret-finder.js'),
  ])
  const messages = []
  for await (const log of logsAt(folder))
    for await (const batch of readLog(log.agent, log.source, {}))
      for (const one of batch) if (one.kind === 'message') messages.push(one.message)
  const collector = new TextCollector(namesSecret)
  for (const message of messages) collector.add(message)
  const fields = collector.fields()
  const textMb = fields.reduce((sum, { text }) => sum + text.length, 0) / 1e6
  const messageMb = messages.reduce((sum, message) => sum + JSON.stringify(message).length, 0) / 1e6
  const texts = await fastest(runs, () => {
    for (const { text, key } of fields) findInField(text, key)
  })
  const complete = await fastest(runs, async () => {
    const redactor = new Redactor()
    await redactor.learn(messages)
    for await (const _ of redactor.messages(messages));
  })
  return { texts: texts / textMb, messages: complete / messageMb }
}

async function fastest(runs, work) {
  let best = Number.POSITIVE_INFINITY
  for (let run = 0; run < runs; run++) {
    globalThis.gc?.()
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1000)
  }
  return best
}
