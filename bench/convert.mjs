/**
 * How long a conversion takes, as a ratio to reading the source and writing the output's values with JSON.stringify; and how
 * much memory a large session takes. `npm run build && node bench/convert.mjs [megabytes] [--large megabytes]`
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate, logsIn, oneLargeFile } from './logs.mjs'

const ROUNDS = 3
const best = (measure) => Math.min(...Array.from({ length: ROUNDS }, measure))

const [, self, mode, ...rest] = process.argv

if (mode === 'read') await readOnly(rest[0])
else if (mode === 'stringify') stringifyOnly(rest[0])
else if (mode === 'convert') await convertOnly(rest[0], rest[1], rest[2])
else await main()

async function main() {
  const megabytes = Number(mode ?? 60)
  const large = process.argv.includes('--large') ? Number(process.argv[process.argv.indexOf('--large') + 1]) : 1000
  const folder = mkdtempSync(join(tmpdir(), 'fumi-bench-'))
  try {
    generate(join(folder, 'logs'), megabytes)
    const one = logsIn(oneLargeFile(join(folder, 'logs'), join(folder, 'one'), megabytes))[0]
    for (const form of ['openai', 'codex', 'normalized', 'amazon-q', 'fumibako']) {
      const out = join(folder, `out-${form}`)
      const converting = best(() => timed('convert', one, form, out))
      const reading = best(() => timed('read', one))
      const writing = best(() => timed('stringify', out))
      const ratio = converting / (reading + writing)
      console.log(`${form}: ${ratio.toFixed(2)} of 3 (${converting} ms; reading ${reading}, stringify ${writing})`)
      rmSync(out)
    }
    const huge = logsIn(oneLargeFile(join(folder, 'logs'), join(folder, 'large'), large))[0]
    for (const form of ['openai', 'codex', 'amazon-q', 'fumibako']) {
      const out = join(folder, 'out')
      const { rssMb } = measured('convert', huge, form, out)
      const sizes = [huge, out].map((path) => `${Math.round(statSync(path).size / 1e6)} MB`)
      console.log(
        `${form}: ${Math.round(rssMb)} of 300 MB of memory for a session of ${sizes[0]} (${sizes[1]} written)`,
      )
      rmSync(out)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Each in a process of its own, in time of the processor: other programs do not count. */
function timed(...args) {
  return Number(execFileSync(process.execPath, [self, ...args], { encoding: 'utf8' }))
}

function measured(...args) {
  const child = spawnSync(process.execPath, [join(import.meta.dirname, 'measure.mjs'), self, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    encoding: 'utf8',
  })
  return JSON.parse(child.output[3])
}

function now() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function readOnly(path) {
  const { default: agent } = await import('../dist/agents/codex/agent.js')
  const start = now()
  for await (const batch of agent.read({ agent: agent.id, path })) void batch
  console.log(Math.round(now() - start))
}

/** The output's own values: lines, or the messages of a document. */
function stringifyOnly(path) {
  const text = readFileSync(path, 'utf8')
  const values = text.startsWith('{\n')
    ? [JSON.parse(text)]
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
  const start = now()
  for (const value of values) JSON.stringify(value)
  console.log(Math.round(now() - start))
}

async function convertOnly(path, form, out) {
  const { default: agent } = await import('../dist/agents/codex/agent.js')
  const { convertLog } = await import('../dist/convert.js')
  const { closeSync, openSync, writeSync } = await import('node:fs')
  const start = now()
  const conversion = await convertLog({ agent, source: { agent: agent.id, path } }, form, { hasSidecar: true })
  const fd = openSync(out, 'w')
  for await (const piece of conversion.pieces) if (piece.kind === 'bytes') writeSync(fd, piece.bytes)
  closeSync(fd)
  conversion.report()
  console.log(Math.round(now() - start))
}
