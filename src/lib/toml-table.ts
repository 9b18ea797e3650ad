/** Changes one table of a TOML file that people write. Everything else keeps its bytes. */

/** `[a.b]`, with bare or quoted keys, or `[[a.b]]`. */
const HEADER = /^[ \t]*(\[\[?)([^\]\r\n]+)\]\]?[ \t]*(?:#.*)?$/
const KEY_PART = /\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(?:\.|$)/y

interface TableStart {
  readonly keys: readonly string[]
  /** Offset of the line. */
  readonly at: number
}

/**
 * Sets the table to these lines, or removes it and those below it.
 *
 * @param lines `key = value`, each complete
 * @returns the new text, or undefined if the table is written in a way that cannot be changed safely: inline, or by
 *   dotted keys
 */
export function editTomlTable(
  text: string,
  keys: readonly string[],
  lines: readonly string[] | undefined,
): string | undefined {
  const starts = readTables(text)
  if (starts === undefined || isWrittenInline(text, starts, keys)) return undefined
  const own = starts.flatMap((one, at) => (startsWith(one.keys, keys) ? at : []))
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const header = `[${keys.map(formatKey).join('.')}]`
  const table = lines && [header, ...lines].join(newline) + newline
  const [first] = own
  if (first === undefined) {
    if (table === undefined) return text
    const before = text.trimEnd() === '' ? text : `${text.endsWith('\n') ? text : text + newline}${newline}`
    return before + table
  }
  // From the last, so that offsets stay right.
  let changed = text
  for (const at of own.toReversed()) {
    const from = starts[at]?.at ?? 0
    const to = endOfTable(changed, from, starts[at + 1]?.at ?? text.length)
    const isFirst = at === first
    const replacement = isFirst && table !== undefined ? table : ''
    const start = replacement === '' ? startOfBlankLine(changed, from) : from
    changed = changed.slice(0, start) + replacement + changed.slice(to)
  }
  return changed
}

export function hasTomlTable(text: string, keys: readonly string[]): boolean {
  return readTables(text)?.some((one) => startsWith(one.keys, keys)) ?? false
}

export const tomlString = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f')

const formatKey = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : tomlString(key))

/** Comments directly before the next table belong to it, and so do the blank lines before them. */
function endOfTable(text: string, from: number, next: number): number {
  const lines = text.slice(from, next).split('\n')
  let kept = lines.length - 1
  if (next < text.length) while (kept > 1 && /^\s*(?:#.*)?$/.test(lines[kept - 1] ?? '')) kept--
  else return next
  return from + lines.slice(0, kept).join('\n').length + 1
}

/** The blank line that separates the table from what is before it. */
function startOfBlankLine(text: string, at: number): number {
  const before = /\r?\n(\r?\n)$/.exec(text.slice(0, at))
  return before ? at - (before[1]?.length ?? 0) : at
}

/** Headers outside of strings and lists. Undefined if a string does not end. */
function readTables(text: string): readonly TableStart[] | undefined {
  const starts: TableStart[] = []
  let at = 0
  while (at < text.length) {
    const end = text.indexOf('\n', at)
    const lineEnd = end < 0 ? text.length : end
    const [, , name] = HEADER.exec(text.slice(at, lineEnd).replace(/\r$/, '')) ?? []
    if (name !== undefined) {
      const keys = parseKeys(name)
      if (keys) starts.push({ keys, at })
      at = lineEnd + 1
      continue
    }
    const next = skipEntry(text, at)
    if (next === undefined) return undefined
    at = next
  }
  return starts
}

/** Skips a line with its value, which may continue on further lines. */
function skipEntry(text: string, from: number): number | undefined {
  let depth = 0
  for (let at = from; at < text.length; ) {
    const rest = text.slice(at, at + 3)
    if (rest === '"""' || rest === "'''") {
      let end = text.indexOf(rest, at + 3)
      while (end > 0 && rest === '"""' && isEscaped(text, end)) end = text.indexOf(rest, end + 1)
      if (end < 0) return undefined
      at = end + 3
    } else if (text[at] === '"' || text[at] === "'") {
      const end = endOfString(text, at)
      if (end === undefined) return undefined
      at = end
    } else if (text[at] === '#') {
      const end = text.indexOf('\n', at)
      at = end < 0 ? text.length : end
    } else if (text[at] === '\n' && depth === 0) return at + 1
    else {
      if (text[at] === '[' || text[at] === '{') depth++
      if (text[at] === ']' || text[at] === '}') depth--
      at++
    }
  }
  return depth === 0 ? text.length : undefined
}

const isEscaped = (text: string, at: number): boolean => ((/\\*$/.exec(text.slice(0, at))?.[0].length ?? 0) & 1) === 1

function endOfString(text: string, at: number): number | undefined {
  const quote = text[at]
  for (let here = at + 1; here < text.length && text[here] !== '\n'; here++) {
    if (quote === '"' && text[here] === '\\') here++
    else if (text[here] === quote) return here + 1
  }
  return undefined
}

function parseKeys(text: string): readonly string[] | undefined {
  const keys: string[] = []
  KEY_PART.lastIndex = 0
  while (KEY_PART.lastIndex < text.length) {
    const match = KEY_PART.exec(text)
    if (!match) return undefined
    keys.push(match[1] ?? match[2] ?? match[3] ?? '')
  }
  return keys
}

const startsWith = (keys: readonly string[], start: readonly string[]): boolean =>
  start.every((one, at) => keys[at] === one)

/** `a = { b = … }` or `a.b.c = …` outside of `[a.b]`. */
function isWrittenInline(text: string, starts: readonly TableStart[], keys: readonly string[]): boolean {
  const [first = ''] = keys
  const bounds = [...starts, { keys: [], at: text.length }]
  const parts = [{ keys: [] as readonly string[], from: 0, to: bounds[0]?.at ?? text.length }]
  for (const [at, one] of starts.entries())
    parts.push({ keys: one.keys, from: one.at, to: bounds[at + 1]?.at ?? text.length })
  return parts.some((part) => {
    const rest =
      part.keys.length === 0
        ? keys
        : startsWith(keys, part.keys) && part.keys.length < keys.length
          ? keys.slice(part.keys.length)
          : undefined
    if (!rest) return false
    const name = (rest[0] ?? first).replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    return new RegExp(`^[ \\t]*["']?${name}["']?[ \\t]*[.=]`, 'm').test(text.slice(part.from, part.to))
  })
}
