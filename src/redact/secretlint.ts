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
  const rules = await loadRules()
  const reports: Report[] = []
  const context: RuleContext = {
    sharedOptions: {},
    createTranslator: () => (_, data) => ({ data }),
    report: (report) => reports.push(report),
    ignore: () => {},
  }
  const spans: RedactionSpan[] = []
  for (const { meta, create } of rules) {
    // The name makes the npm rule search for tokens. The file itself is never opened.
    await create(context, {}).file?.({ filePath: '.npmrc', content, contentType: 'text', ext: '' })
    const kind = meta.id.replace(/^.*secretlint-rule-/, '')
    for (const { message, range } of reports.splice(0))
      spans.push(locateSecret(content, { start: range[0], end: range[1], kind }, message.data))
  }
  return spans
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

/** What rules report, and what they are given. Their own runner measures itself, and never frees these measurements. */
interface Report {
  readonly message: { readonly data?: unknown }
  readonly range: readonly [start: number, end: number]
}

interface RuleContext {
  readonly sharedOptions: object
  readonly createTranslator: () => (id: string, data?: unknown) => Report['message']
  readonly report: (report: Report) => void
  readonly ignore: () => void
}

interface Rule {
  readonly meta: { readonly id: string }
  readonly create: (
    context: RuleContext,
    options: object,
  ) => { readonly file?: (source: object) => void | Promise<void> }
}

let loadedRules: Promise<readonly Rule[]> | undefined

const loadRules = (): Promise<readonly Rule[]> => {
  loadedRules ??= importRules()
  return loadedRules
}

async function importRules(): Promise<readonly Rule[]> {
  const { rules } = await import('@secretlint/secretlint-rule-preset-recommend')
  return (rules as unknown as readonly Rule[]).filter(({ meta }) => !EXCLUDED_RULES.test(meta.id))
}
