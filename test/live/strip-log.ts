/** Makes a fixture of a log that a real Codex wrote: without the program's own prompts and the paths of this machine. */
import {
  isJsonArray,
  isJsonObject,
  type JsonValue,
  jsonEntries,
  parseJson,
  writeJson,
} from '../../src/lib/json/lossless.ts'

/** Longer texts are Codex's own; those of the script are shorter. */
const MAX_TEXT_LENGTH = 120

/** Lines, fields, their order, ids, times and the spelling of numbers stay. */
export function stripLog(text: string, paths: readonly (readonly [path: string, shown: string])[]): string {
  return text
    .split('\n')
    .map((line) => {
      const parsed = line === '' ? undefined : parseJson(line)
      return parsed?.ok ? writeJson(stripped(parsed.value, paths)) : line
    })
    .join('\n')
}

function stripped(value: JsonValue, paths: readonly (readonly [string, string])[]): JsonValue {
  if (typeof value === 'string') return cut(paths.reduce((text, [path, shown]) => text.replaceAll(path, shown), value))
  if (isJsonArray(value)) return value.map((one) => stripped(one, paths))
  if (!isJsonObject(value)) return value
  const entries = jsonEntries(value).map(([key, one]) => [key, stripped(one, paths)] as const)
  return value instanceof Map ? new Map(entries) : Object.fromEntries(entries)
}

/** Keeps the tag or heading by which a text is recognized. */
function cut(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text
  const note = `(left out: ${text.length} characters)`
  const tag = /^\s*<([a-z][\w -]*)>/.exec(text)?.[1]
  const heading = /^# [\w.]+ instructions/.exec(text)?.[0]
  if (tag === undefined) return heading === undefined ? note : `${heading} ${note}`
  const cwd = /<cwd>[^<]*<\/cwd>/.exec(text)?.[0] ?? ''
  return `<${tag}>\n${cwd}${note}\n</${tag}>`
}
