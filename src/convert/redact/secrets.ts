/** Finds secrets in texts by the recommended rules of secretlint and some forms of our own, many texts at a time. */
import { findTokens } from './tokens.ts'

/** A stretch of a text that is not to be shown. `start` and `end` count UTF-16 units. */
export interface Span {
  readonly start: number
  readonly end: number
  /** What it is: `github`, `aws`, `email` … */
  readonly kind: string
}

type Spans = ReadonlyMap<string, readonly Span[]>

/** One call costs as much as looking through a few kilobytes. */
const BATCH = 1 << 20
/** No rule reaches over it by design; a match that does is looked for again in each text alone. */
const GAP = '\n\n\n'

/** The secrets of each text that has some. */
export async function findSecrets(texts: Iterable<string>): Promise<Spans> {
  const found = new Map<string, readonly Span[]>()
  const add = async (batch: readonly string[]): Promise<void> => {
    for (const [text, spans] of await inBatch(batch)) found.set(text, spans)
  }
  let batch: string[] = []
  let size = 0
  for (const text of texts) {
    if (text.length < SHORTEST) continue
    batch.push(text)
    size += text.length
    if (size < BATCH) continue
    await add(batch)
    batch = []
    size = 0
  }
  if (batch.length > 0) await add(batch)
  return found
}

/** No rule matches less. */
const SHORTEST = 12

async function inBatch(texts: readonly string[]): Promise<Spans> {
  const found = new Map<string, readonly Span[]>()
  const spans = await lint(texts.map(unescaped).join(GAP))
  if (spans.length === 0) return found
  let offset = 0
  for (const text of texts) {
    const end = offset + text.length
    const here = spans.filter((span) => span.start < end && span.end > offset)
    const inside = here.every((span) => span.start >= offset && span.end <= end)
    const own = inside ? here.map((span) => moved(span, -offset)) : await lint(unescaped(text))
    if (own.length > 0) found.set(text, own)
    offset = end + GAP.length
  }
  return found
}

const moved = ({ start, end, kind }: Span, by: number): Span => ({ start: start + by, end: end + by, kind })

/** A letter that belongs to an escape must not hide the beginning of a secret. As long as the text. */
const unescaped = (text: string): string => (text.includes('\\') ? text.replace(/\\[nrt]/g, '  ') : text)

/** A key whose end was cut off is a key. */
const CUT_KEY = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY(?: BLOCK)?-----[\sA-Za-z0-9+/=\\]{40,}/g

async function lint(content: string): Promise<readonly Span[]> {
  const { lintSource, rules } = await secretlint()
  const { messages } = await lintSource({
    // The name lets the rule for npm look for tokens of its configuration; the file is not opened.
    source: { filePath: '.npmrc', content, contentType: 'text', ext: '' },
    options: { config: { rules }, noPhysicFilePath: true },
  })
  const spans = messages.map(({ range: [start, end], ruleId, data }) =>
    exactly(content, { start, end, kind: ruleId.replace(/^.*secretlint-rule-/, '') }, data),
  )
  for (const { 0: key, index } of content.matchAll(CUT_KEY))
    spans.push({ start: index, end: index + key.length, kind: 'privatekey' })
  return [...spans, ...findTokens(content)]
}

/** Some rules report where their pattern begins and how long the secret is, which is not where it stands. */
function exactly(content: string, span: Span, data: unknown): Span {
  const values = Object.values((data ?? {}) as object).filter((one): one is string => typeof one === 'string')
  const secret = values.sort((a, b) => b.length - a.length)[0] ?? ''
  const start = secret === '' ? -1 : content.indexOf(secret, span.start)
  if (start < 0) return span
  const user = USER_INFO.exec(secret)
  if (!user) return { ...span, start, end: start + secret.length }
  const [, scheme = '', name = ''] = user
  return { ...span, start: start + scheme.length, end: start + scheme.length + name.length }
}

/** Of an address only name and password are secret. */
const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)([^@/\s]+)@/i

/** Comments could switch rules off, and one rule opens files: neither has a place here. */
const LEFT_OUT = /-(?:filter-comments|gcp)$/

let loaded: ReturnType<typeof load> | undefined

const secretlint = (): ReturnType<typeof load> => {
  loaded ??= load()
  return loaded
}

async function load() {
  const [{ lintSource }, preset] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
  ])
  const rules = preset.rules.filter(({ meta }) => !LEFT_OUT.test(meta.id)).map((rule) => ({ id: rule.meta.id, rule }))
  return { lintSource, rules }
}
