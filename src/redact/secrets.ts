/** Finds secrets in texts by the recommended rules of secretlint and some forms of our own, many texts at a time. */

/** A stretch of a text that is not to be shown. `start` and `end` count UTF-16 units. */
export interface RedactionSpan {
  readonly start: number
  readonly end: number
  /** What it is: `github`, `aws`, `email` … */
  readonly kind: string
}

type SpansByText = ReadonlyMap<string, readonly RedactionSpan[]>

/** One call costs as much as looking through a few kilobytes. */
const BATCH_CHARACTERS = 1 << 20
/** No rule reaches over it by design; a match that does is looked for again in each text alone. */
const BATCH_SEPARATOR = '\n\n\n'

/** The secrets of each text that has some. */
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

/** No rule matches less. */
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

/** A letter that belongs to an escape must not hide the beginning of a secret. As long as the text. */
const blankEscapes = (text: string): string => (text.includes('\\') ? text.replace(/\\[nrt]/g, '  ') : text)

/** A key whose end was cut off is a key. */
const TRUNCATED_KEY = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY(?: BLOCK)?-----[\sA-Za-z0-9+/=\\]{40,}/g

async function lintText(content: string): Promise<readonly RedactionSpan[]> {
  const { lintSource, rules } = await loadSecretlint()
  const { messages } = await lintSource({
    // The name lets the rule for npm look for tokens of its configuration; the file is not opened.
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

/** Some rules report where their pattern begins and how long the secret is, which is not where it stands. */
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

/** Of an address only name and password are secret. */
const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)([^@/\s]+)@/i

/** Comments could switch rules off, and one rule opens files: neither has a place here. */
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

// Secrets whose form gives them away, and which the rules of secretlint do not look for.

/** What stands before a form and makes it the end of something else. */
const WORD_CHARACTER = /[A-Za-z0-9]/
const LOWERCASE_LETTER = /[a-z]/

/** Each begins with letters: so most of a text is passed over quickly. The secret is the group, where there is one. */
const TOKEN_FORMS: readonly (readonly [kind: string, form: RegExp, glued?: RegExp])[] = [
  ['jwt', /eyJ[\w-]{8,2000}\.eyJ[\w-]{8,8000}\.[\w-]{16,1000}/g],
  ['authorization', /[Aa]uthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:Bearer|Basic|Token)\s{1,4}([\w.~+/=-]{12,4000})/g],
  ['openai', /sk-(?:proj|svcacct|admin)-[\w-]{20,300}/g],
  ['aws', /(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9+/])/g],
  ['google', /AIza[\w-]{35}(?![\w-])/g],
  ['stripe', /(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,200}/g],
  ['azure', /(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,120}={0,2})/g],
  // As a file of settings has it: what stands for a value elsewhere, and numbers, are none. A name may be longer: PGPASSWORD.
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
