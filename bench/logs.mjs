/** Logs to measure: generated if the generator is available, otherwise a given folder. */
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

const SHARED = process.env.FUMI_SHARED ?? join(import.meta.dirname, '..', '..', 'shared')
const GENERATOR = join(SHARED, 'bench', 'gen.mjs')

export const yardstick = existsSync(join(SHARED, 'bench', 'base_parse.mjs'))
  ? join(SHARED, 'bench', 'base_parse.mjs')
  : join(import.meta.dirname, 'parse-lines.mjs')

export function generate(folder, megabytes, ...options) {
  if (!existsSync(GENERATOR))
    throw new Error('no generator beside the project: give a folder of Codex logs with --logs <folder>')
  execFileSync(process.execPath, [GENERATOR, '--out', folder, '--mb', String(megabytes), ...options], {
    stdio: 'ignore',
  })
  return folder
}

const RECORDED = join(SHARED, 'corpus', 'codex', 'sessions')

/** A folder of real logs, if there is one. */
export const recordedLogs = existsSync(RECORDED) ? RECORDED : undefined

/**
 * Logs of a folder again and again, up to the given size. Each repetition has other words, of the same length and
 * frequency, so that no two share anything.
 */
export function vary(from, folder, megabytes) {
  const logs = logsIn(from)
  let written = 0
  for (let round = 0; written < megabytes * 1e6; round++) {
    mkdirSync(join(folder, String(round)), { recursive: true })
    for (const [n, log] of logs.entries()) {
      if (written >= megabytes * 1e6) break
      const bytes = rotateWords(readFileSync(log), round)
      writeFileSync(join(folder, String(round), `rollout-2026-01-01T00-00-00-${n}.jsonl`), bytes)
      written += bytes.length
    }
  }
  return folder
}

const [QUOTE, BACKSLASH, SMALL_U] = Buffer.from('"\\u')

/** Replaces each letter and digit in the strings of JSON lines by another one, in place. */
function rotateWords(bytes, round) {
  const table = Uint8Array.from({ length: 256 }, (_, code) => code)
  for (const [first, count] of [
    [48, 10],
    [65, 26],
    [97, 26],
  ])
    for (let n = 0; n < count; n++) table[first + n] = first + ((n + round * (count === 10 ? 3 : 1)) % count)
  let isInString = false
  for (let at = 0; at < bytes.length; at++) {
    const code = bytes[at]
    if (code === QUOTE) isInString = !isInString
    else if (code === BACKSLASH && isInString) at += bytes[at + 1] === SMALL_U ? 5 : 1
    else if (isInString) bytes[at] = table[code]
  }
  return bytes
}

/** All logs of a folder in one file, repeated up to the given size: one session of a gigabyte. */
export function oneLargeFile(from, folder, megabytes) {
  const logs = logsIn(from)
  mkdirSync(folder, { recursive: true })
  const fd = openSync(join(folder, 'rollout-2026-01-01T00-00-00-large.jsonl'), 'w')
  for (let written = 0, at = 0; written < megabytes * 1e6; at++)
    written += writeSync(fd, readFileSync(logs[at % logs.length]))
  closeSync(fd)
  return folder
}

/** A log in which every other line is 50 MB long. */
export function longLines(folder, lines = 4) {
  mkdirSync(folder, { recursive: true })
  const fd = openSync(join(folder, 'rollout-2026-01-01T00-00-00-long.jsonl'), 'w')
  const line = (type, payload) =>
    writeSync(fd, `${JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', type, payload })}\n`)
  line('session_meta', { id: 'long', cwd: '/w' })
  for (let n = 0; n < lines; n++) {
    line('response_item', { type: 'function_call', call_id: `c${n}`, name: 'shell', arguments: '{}' })
    line('response_item', {
      type: 'function_call_output',
      call_id: `c${n}`,
      output: 'line of output\n'.repeat(3_400_000),
    })
  }
  closeSync(fd)
  return folder
}

/** Reads in chunks: a child process inherits its parent's peak memory, so the parent must stay small. */
export function longestLine(folder) {
  const chunk = Buffer.alloc(1 << 20)
  let longest = 0
  for (const path of logsIn(folder)) {
    const fd = openSync(path, 'r')
    let length = 0
    for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk)) {
      let from = 0
      for (let to = chunk.indexOf(10); to >= 0 && to < read; to = chunk.indexOf(10, from)) {
        longest = Math.max(longest, length + to - from)
        length = 0
        from = to + 1
      }
      length += read - from
    }
    closeSync(fd)
  }
  return longest
}

export const sizeOf = (folder) => logsIn(folder).reduce((sum, path) => sum + statSync(path).size, 0)

export const logsIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
    .map((entry) => join(entry.parentPath, entry.name))
