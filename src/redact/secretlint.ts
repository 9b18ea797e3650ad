/** Finds secrets in many texts at once, with the recommended rules of secretlint. */
import { isPlaceholder } from './find/placeholder.ts'
import type { RedactionSpan } from './find/span.ts'

type SpansByText = ReadonlyMap<string, readonly RedactionSpan[]>

/** The fixed cost of one call equals scanning a few kilobytes. */
const BATCH_CHARACTERS = 1 << 20
/** Rules should not match across it. If one does, each text is scanned again on its own. */
const BATCH_SEPARATOR = '\n\n\n'

/** Secrets by text, for texts that contain any. */
export async function findLinted(texts: Iterable<string>): Promise<SpansByText> {
  const found = new Map<string, readonly RedactionSpan[]>()
  const add = async (batch: readonly string[]): Promise<void> => {
    for (const [text, spans] of await findInBatch(batch)) found.set(text, spans)
  }
  let batch: string[] = []
  let size = 0
  for (const text of texts) {
    if (text.length < MIN_TEXT_LENGTH) continue
    batch.push(text)
    size += text.length
    if (size < BATCH_CHARACTERS) continue
    await add(batch)
    batch = []
    size = 0
  }
  if (batch.length > 0) await add(batch)
  return found
}

/** Shorter texts contain no name with a secret. */
const MIN_TEXT_LENGTH = 8

async function findInBatch(texts: readonly string[]): Promise<SpansByText> {
  const found = new Map<string, readonly RedactionSpan[]>()
  const spans = await lintText(texts.map(blankEscapes).join(BATCH_SEPARATOR))
  if (spans.length === 0) return found
  let offset = 0
  for (const text of texts) {
    const end = offset + text.length
    const here = spans.filter((span) => span.start < end && span.end > offset)
    const inside = here.every((span) => span.start >= offset && span.end <= end)
    const linted = inside ? here.map((span) => shiftSpan(span, -offset)) : await lintText(blankEscapes(text))
    const real = linted.filter(({ start, end }) => !isPlaceholder(text.slice(start, end)))
    if (real.length > 0) found.set(text, real)
    offset = end + BATCH_SEPARATOR.length
  }
  return found
}

const shiftSpan = ({ start, end, kind }: RedactionSpan, by: number): RedactionSpan => ({
  start: start + by,
  end: end + by,
  kind,
})

/** Blanks escape sequences, because their letter would hide the beginning of a secret. Keeps the length. */
const blankEscapes = (text: string): string => (text.includes('\\') ? text.replace(/\\[nrt]/g, '  ') : text)

async function lintText(content: string): Promise<readonly RedactionSpan[]> {
  const { lintSource, rules } = await loadSecretlint()
  const { messages } = await lintSource({
    // The name makes the npm rule search for tokens. The file itself is never opened.
    source: { filePath: '.npmrc', content, contentType: 'text', ext: '' },
    options: { config: { rules }, noPhysicFilePath: true },
  })
  return messages.map(({ range: [start, end], ruleId, data }) =>
    locateSecret(content, { start, end, kind: ruleId.replace(/^.*secretlint-rule-/, '') }, data),
  )
}

/** Some rules report the start of their pattern with the length of the secret. This finds the actual position. */
function locateSecret(content: string, span: RedactionSpan, data: unknown): RedactionSpan {
  const values = Object.values((data ?? {}) as object).filter((one): one is string => typeof one === 'string')
  const secret = values.sort((a, b) => b.length - a.length)[0] ?? ''
  const start = secret === '' ? -1 : content.indexOf(secret, span.start)
  if (start < 0) return span
  const user = USER_INFO.exec(secret)
  if (!user) return { ...span, start, end: start + secret.length }
  const [, scheme = '', name = ''] = user
  return { ...span, start: start + scheme.length, end: start + scheme.length + name.length }
}

/** In a URL, only user name and password are secret. */
const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)([^@/\s]+)@/i

/** The comments filter would let a text switch rules off, and the gcp rule opens files. */
const EXCLUDED_RULES = /-(?:filter-comments|gcp)$/

let loadedSecretlint: ReturnType<typeof importSecretlint> | undefined

const loadSecretlint = (): ReturnType<typeof importSecretlint> => {
  loadedSecretlint ??= importSecretlint()
  return loadedSecretlint
}

async function importSecretlint() {
  const [{ lintSource }, preset] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
  ])
  const rules = preset.rules
    .filter(({ meta }) => !EXCLUDED_RULES.test(meta.id))
    .map((rule) => ({ id: rule.meta.id, rule }))
  return { lintSource, rules }
}
