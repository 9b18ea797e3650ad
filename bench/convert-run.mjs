/**
 * One measured step of a conversion: `convert-run.mjs read|stringify|convert <file> [form] [output]`. Prints its
 * processor time.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import agent from '../dist/agents/codex/agent.js'
import { convertLog } from '../dist/convert.js'

const [, , piece, path, form, out] = process.argv

function now() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const pieces = {
  async read() {
    const start = now()
    for await (const batch of agent.read({ agent: agent.id, path })) void batch
    return now() - start
  },
  /** Serializes the values of the output: lines, or the messages of a document. */
  stringify() {
    const text = readFileSync(path, 'utf8')
    const values = text.startsWith('{\n')
      ? [JSON.parse(text)]
      : text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
    const start = now()
    for (const value of values) JSON.stringify(value)
    return now() - start
  },
  async convert() {
    const start = now()
    const conversion = await convertLog({ agent, source: { agent: agent.id, path } }, form, { hasSidecar: true })
    const fd = openSync(out, 'w')
    for await (const one of conversion.pieces) if (one.kind === 'bytes') writeSync(fd, one.bytes)
    closeSync(fd)
    conversion.report()
    return now() - start
  },
}
console.log(Math.round(await pieces[piece]()))
