/** Finds secrets in many texts at once, with the recommended rules of secretlint and patterns of our own. */

/** Part of a text to redact. `start` and `end` count UTF-16 units. */
export interface RedactionSpan {
  readonly start: number
  readonly end: number
  /** Kind of secret: `github`, `aws`, `email` … */
  readonly kind: string
}

type SpansByText = ReadonlyMap<string, readonly RedactionSpan[]>

/** The fixed cost of one call equals scanning a few kilobytes. */
const BATCH_CHARACTERS = 1 << 20
/** Rules should not match across it. If one does, each text is scanned again on its own. */
const BATCH_SEPARATOR = '\n\n\n'

/** Secrets by text, for texts that contain any. */
export async function findSecrets(texts: Iterable<string>): Promise<SpansByText> {
  const found = new Map<string, readonly RedactionSpan[]>()
  const add = async (batch: readonly string[]): Promise<void> => {
    for (const [text, spans] of await findInBatch(batch)) found.set(text, spans)
  }
  let batch: string[] = []
  let size = 0
  for (const text of texts) {
    if (text.length < MIN_SECRET_LENGTH) continue
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

/** No rule matches shorter secrets. */
const MIN_SECRET_LENGTH = 12

async function findInBatch(texts: readonly string[]): Promise<SpansByText> {
  const found = new Map<string, readonly RedactionSpan[]>()
  const spans = await lintText(texts.map(blankEscapes).join(BATCH_SEPARATOR))
  if (spans.length === 0) return found
  let offset = 0
  for (const text of texts) {
    const end = offset + text.length
    const here = spans.filter((span) => span.start < end && span.end > offset)
    const inside = here.every((span) => span.start >= offset && span.end <= end)
    const own = inside ? here.map((span) => shiftSpan(span, -offset)) : await lintText(blankEscapes(text))
    if (own.length > 0) found.set(text, own)
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

/** A private key is a secret even if its end is missing. */
const TRUNCATED_KEY = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY(?: BLOCK)?-----[\sA-Za-z0-9+/=\\]{40,}/g

async function lintText(content: string): Promise<readonly RedactionSpan[]> {
  const { lintSource, rules } = await loadSecretlint()
  const { messages } = await lintSource({
    // The name makes the npm rule search for tokens. The file itself is never opened.
    source: { filePath: '.npmrc', content, contentType: 'text', ext: '' },
    options: { config: { rules }, noPhysicFilePath: true },
  })
  const spans = messages.map(({ range: [start, end], ruleId, data }) =>
    locateSecret(content, { start, end, kind: ruleId.replace(/^.*secretlint-rule-/, '') }, data),
  )
  for (const { 0: key, index } of content.matchAll(TRUNCATED_KEY))
    spans.push({ start: index, end: index + key.length, kind: 'privatekey' })
  return [...spans, ...findTokens(content)]
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

/** A character before a token that shows it is part of a longer word. */
const WORD_CHARACTER = /[A-Za-z0-9]/
const LOWERCASE_LETTER = /[a-z]/

/**
 * Each pattern begins with letters, so that most text is skipped quickly. The secret is the first group if there is
 * one.
 */
const TOKEN_FORMS: readonly (readonly [kind: string, form: RegExp, glued?: RegExp])[] = [
  ['jwt', /eyJ[\w-]{8,2000}\.eyJ[\w-]{8,8000}\.[\w-]{16,1000}/g],
  ['authorization', /[Aa]uthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:Bearer|Basic|Token)\s{1,4}([\w.~+/=-]{12,4000})/g],
  ['openai', /sk-(?:proj|svcacct|admin)-[\w-]{20,300}/g],
  ['aws', /(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9+/])/g],
  ['google', /AIza[\w-]{35}(?![\w-])/g],
  ['stripe', /(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,200}/g],
  ['azure', /(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,120}={0,2})/g],
  // Assignments as in configuration files. Placeholders and numbers are not secrets. The name may have a prefix:
  // PGPASSWORD.
  [
    'setting',
    /(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|(?:ACCESS|PRIVATE|SECRET)_KEY)(?:_\d{1,3})?=["']?((?!\d+(?![^\s"'])|(?:process|os|import|env)\.)[^\s"'$<>{}()[\],;|&`\\]{8,1000})/g,
    LOWERCASE_LETTER,
  ],
]

const findTokens = (content: string): readonly RedactionSpan[] =>
  TOKEN_FORMS.flatMap(([kind, form, glued = WORD_CHARACTER]) =>
    Array.from(content.matchAll(form)).flatMap(({ 0: all, 1: secret = all, index }) => {
      const start = index + all.length - secret.length
      return glued.test(content.charAt(index - 1)) ? [] : { start, end: start + secret.length, kind }
    }),
  )
