/**
 * Changes one member of an object in a JSON file that people write, with comments and trailing commas. Everything else
 * keeps its bytes.
 */

interface Member {
  readonly key: string
  readonly keyStart: number
  readonly valueStart: number
  readonly valueEnd: number
}

interface ObjectPlace {
  /** Of the braces. */
  readonly start: number
  readonly end: number
  readonly members: readonly Member[]
}

/**
 * Sets the member at the path, or removes it if the value is undefined. Missing objects on the way are created.
 *
 * @returns the new text, or undefined if the text is not JSON with comments, or something on the way is no object
 */
export function editJsonc(text: string, path: readonly string[], value: unknown): string | undefined {
  try {
    const source = text.trim() === '' ? '{}\n' : text
    const changed = change(
      source,
      skipSpace(source, source.startsWith('\ufeff') ? 1 : 0),
      path,
      value,
      indentOf(source),
    )
    return changed === undefined ? undefined : parseJsonc(changed) === undefined ? undefined : changed
  } catch (error) {
    if (error instanceof JsoncError) return undefined
    throw error
  }
}

/** The value without comments and trailing commas. Undefined if the text is not such JSON. */
export function parseJsonc(text: string): unknown {
  try {
    const at = skipSpace(text, text.startsWith('\ufeff') ? 1 : 0)
    const end = skipValue(text, at)
    if (skipSpace(text, end) !== text.length) return undefined
    return JSON.parse(toPlainJson(text.slice(at, end)))
  } catch (error) {
    if (error instanceof JsoncError || error instanceof SyntaxError) return undefined
    throw error
  }
}

class JsoncError extends Error {}

function change(
  text: string,
  at: number,
  [key = '', ...rest]: readonly string[],
  value: unknown,
  indent: string,
): string | undefined {
  const object = readObject(text, at)
  const known = object.members.findLast((one) => one.key === key)
  if (rest.length > 0 && known) {
    if (text[known.valueStart] !== '{') throw new JsoncError()
    return change(text, known.valueStart, rest, value, indent)
  }
  if (value === undefined) return known ? removeMember(text, object, known) : text
  const content = rest.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)
  return known ? replaceValue(text, known, content, indent) : addMember(text, object, key, content, indent)
}

function replaceValue(
  text: string,
  { keyStart, valueStart, valueEnd }: Member,
  value: unknown,
  indent: string,
): string {
  return text.slice(0, valueStart) + format(value, indent, indentBefore(text, keyStart)) + text.slice(valueEnd)
}

function addMember(
  text: string,
  { start, end, members }: ObjectPlace,
  key: string,
  value: unknown,
  indent: string,
): string {
  const last = members.at(-1)
  const outer = indentBefore(text, start)
  const inner = last && isFirstOnLine(text, last.keyStart) ? indentBefore(text, last.keyStart) : outer + indent
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const member = `${newline}${inner}${JSON.stringify(key)}: ${format(value, indent, inner)}`
  if (!last) {
    // Comments in an empty object stay before the member.
    const body = text.slice(start + 1, end).trimEnd()
    return `${text.slice(0, start + 1)}${body}${member}${newline}${outer}${text.slice(end)}`
  }
  const comma = commaAfter(text, last.valueEnd)
  const isSeparated = comma !== undefined
  const insertAt = isSeparated ? comma + 1 : last.valueEnd
  const after = text.slice(insertAt)
  // A comment at the end of the line belongs to the member before.
  const rest = /^[ \t]*(?:\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/[ \t]*)?(?=\r?\n)/.exec(after)?.[0] ?? ''
  const closing = isFirstOnLine(text, end) ? '' : `${newline}${outer}`
  const tail = after.slice(rest.length)
  return `${text.slice(0, last.valueEnd)}${isSeparated ? text.slice(last.valueEnd, insertAt) : ','}${rest}${member}${isSeparated ? ',' : ''}${closing}${closing === '' ? tail : tail.trimStart()}`
}

function removeMember(text: string, { members, start }: ObjectPlace, member: Member): string {
  const at = members.indexOf(member)
  const comma = commaAfter(text, member.valueEnd)
  const before = members[at - 1]
  let from = member.keyStart
  let to = comma === undefined ? member.valueEnd : comma + 1
  if (isFirstOnLine(text, from)) {
    from = text.lastIndexOf('\n', from - 1)
    if (text[from - 1] === '\r') from--
    from = Math.max(from, start + 1)
  }
  if (comma === undefined && before) {
    // The last member goes: so does the comma before it.
    const separator = commaAfter(text, before.valueEnd)
    if (separator !== undefined) return text.slice(0, separator) + text.slice(separator + 1, from) + text.slice(to)
  }
  if (text[to] === ' ' && !isFirstOnLine(text, member.keyStart)) to++
  return text.slice(0, from) + text.slice(to)
}

function commaAfter(text: string, at: number): number | undefined {
  const found = skipSpace(text, at)
  return text[found] === ',' ? found : undefined
}

function readObject(text: string, at: number): ObjectPlace {
  if (text[at] !== '{') throw new JsoncError()
  const members: Member[] = []
  let here = skipSpace(text, at + 1)
  while (text[here] !== '}') {
    const keyStart = here
    const keyEnd = skipString(text, here)
    const colon = skipSpace(text, keyEnd)
    if (text[colon] !== ':') throw new JsoncError()
    const valueStart = skipSpace(text, colon + 1)
    const valueEnd = skipValue(text, valueStart)
    members.push({ key: JSON.parse(text.slice(keyStart, keyEnd)) as string, keyStart, valueStart, valueEnd })
    here = skipSpace(text, valueEnd)
    if (text[here] === ',') here = skipSpace(text, here + 1)
    else if (text[here] !== '}') throw new JsoncError()
  }
  return { start: at, end: here, members }
}

function skipValue(text: string, at: number): number {
  const first = text[at]
  if (first === '"') return skipString(text, at)
  if (first === '{') return readObject(text, at).end + 1
  if (first === '[') {
    let here = skipSpace(text, at + 1)
    while (text[here] !== ']') {
      here = skipSpace(text, skipValue(text, here))
      if (text[here] === ',') here = skipSpace(text, here + 1)
      else if (text[here] !== ']') throw new JsoncError()
    }
    return here + 1
  }
  const word = /^(?:true|false|null|-?\d[\d.eE+-]*)/.exec(text.slice(at, at + 40))?.[0]
  if (word === undefined) throw new JsoncError()
  return at + word.length
}

function skipString(text: string, at: number): number {
  if (text[at] !== '"') throw new JsoncError()
  for (let here = at + 1; here < text.length; here++) {
    if (text[here] === '\\') here++
    else if (text[here] === '"') return here + 1
    else if (text[here] === '\n') break
  }
  throw new JsoncError()
}

function skipSpace(text: string, from: number): number {
  let at = from
  for (;;) {
    while (/\s/.test(text[at] ?? '')) at++
    if (text.startsWith('//', at)) {
      const end = text.indexOf('\n', at)
      at = end < 0 ? text.length : end
    } else if (text.startsWith('/*', at)) {
      const end = text.indexOf('*/', at + 2)
      if (end < 0) throw new JsoncError()
      at = end + 2
    } else return at
  }
}

/** @param text a valid value */
function toPlainJson(text: string): string {
  let plain = ''
  for (let at = 0; at < text.length; ) {
    if (text[at] === '"') {
      const end = skipString(text, at)
      plain += text.slice(at, end)
      at = end
      continue
    }
    const next = skipSpace(text, at)
    if (next > at) {
      plain += ' '
      at = next
      continue
    }
    const isTrailing = text[at] === ',' && /[}\]]/.test(text[skipSpace(text, at + 1)] ?? '')
    if (!isTrailing) plain += text[at]
    at++
  }
  return plain
}

const isFirstOnLine = (text: string, at: number): boolean =>
  text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trim() === ''

const indentBefore = (text: string, at: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1))?.[0] ?? ''

/** As the first member of the file is indented. */
const indentOf = (text: string): string => /\n([ \t]+)"/.exec(text)?.[1] ?? '  '

const format = (value: unknown, indent: string, base: string): string =>
  JSON.stringify(value, null, indent).replaceAll('\n', `\n${base}`)
