/** Measures the other agents like Codex: one session of Claude Code, converted to each format, then read and counted. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { compare, FUMI, READ, timeRow } from './compare.mjs'
import { yardstick } from './logs.mjs'

const PARSE_DOCUMENT = join(import.meta.dirname, 'parse-document.mjs')

/** The format, the folder of its adapter, and the name that its program gives a file. */
const FORMATS = [
  ['gemini', 'gemini', 'session-2026-01-01T00-00-5e000000.jsonl'],
  ['qwen', 'qwen', 'session.jsonl'],
  ['pi', 'pi', 'session.jsonl'],
  ['copilot', 'copilot', 'events.jsonl'],
  ['kiro-session', 'amazon-q', 'session.jsonl'],
  ['opencode', 'opencode', 'session.json'],
]

export function benchAgents(work, runs, quick) {
  const megabytes = quick ? 5 : 30
  const generator = join(import.meta.dirname, 'generate-claude-code.mjs')
  const home = join(work, '.claude')
  execFileSync(
    process.execPath,
    [generator, '--out', home, '--mb', `${megabytes}`, '--mean-kb', `${megabytes * 2000}`],
    { stdio: 'ignore' },
  )
  const { sessions } = JSON.parse(execFileSync(process.execPath, [FUMI, 'list', '--json', home], { encoding: 'utf8' }))
  const [{ path }] = sessions.toSorted((a, b) => b.messages - a.messages)
  const rows = FORMATS.flatMap(([format, adapter, name]) => {
    const folder = join(work, format)
    mkdirSync(folder)
    const file = join(folder, name)
    execFileSync(process.execPath, [FUMI, 'convert', path, '--to', format, '--no-extensions', '-o', file], {
      stdio: 'ignore',
    })
    const isDocument = name.endsWith('.json')
    const results = compare(
      {
        yardstick: isDocument ? [PARSE_DOCUMENT, file] : [yardstick, folder],
        read: [READ, folder, adapter],
        stats: [FUMI, 'stats', '--json', folder],
      },
      runs,
    )
    return [
      timeRow(results, `${format}: reading as messages`, 'read', 1.2),
      timeRow(results, `${format}: \`fumi stats --json\`, no index`, 'stats', 0.35),
    ]
  })
  return {
    note: `One session of ${megabytes} MB of Claude Code, converted to each format without extensions. Floor of times: a plain \`JSON.parse\` of each line of the converted file, or of the complete document.`,
    rows,
  }
}
