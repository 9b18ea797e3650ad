/** Finds tokens that no fixed prefix begins, by the shape of a run of letters and digits. */
import { isPlaceholder } from './placeholder.ts'
import type { RedactionSpan } from './span.ts'

interface RunForm {
  readonly kind: string
  /** What the run must match from its start; it may look behind and continue beyond the run. */
  readonly form: RegExp
  /** A cheap test of the run's first character and length. */
  fits(first: string, length: number): boolean
}

const FORMS: readonly RunForm[] = [
  {
    kind: 'discord',
    form: /[MNO][\w-]{22,29}\.[\w-]{6}\.[\w-]{25,45}(?![\w-])/y,
    fits: (first, length) => /[MNO]/.test(first) && length <= 30,
  },
  { kind: 'mailchimp', form: /[0-9a-f]{32}-us\d{1,2}(?![\w-])/y, fits: (_, length) => length >= 36 && length <= 38 },
  { kind: 'mailgun', form: /[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])/y, fits: (_, length) => length === 50 },
  {
    kind: 'telegram',
    form: /(?<=(?<!\d)\d{8,10}:)AA[\w-]{30,36}(?![\w-])/y,
    fits: (first, length) => first === 'A' && length <= 40,
  },
  { kind: 'firebase', form: /(?<=AAAA[\w-]{7}:)[\w-]{130,160}/y, fits: (_, length) => length >= 130 },
  { kind: 'zhipu', form: /[0-9a-f]{32}\.(?:[A-Za-z0-9]{16}|[\w-]{24})(?![\w.-])/y, fits: (_, length) => length === 32 },
  {
    kind: 'azure',
    form: /[A-Za-z0-9+/]{76}(?:AACDbzIw|\+A(?:Sb|Mt|St|RmE|Eh|CDb)[A-Za-z0-9+/]{4,8})={0,2}/y,
    fits: (_, length) => length >= 80 && length <= 90,
  },
  {
    kind: 'azuredevops',
    form: /[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])/y,
    fits: (_, length) => length === 84,
  },
  {
    kind: 'azure',
    form: /[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,32}(?![A-Za-z0-9])/y,
    fits: (_, length) => length >= 78 && length <= 90,
  },
  {
    kind: 'fal',
    form: /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:[0-9a-f]{32}(?![\w-])/y,
    fits: (_, length) => length === 36,
  },
  { kind: 'ghost', form: /(?<=(?<![\w-])[0-9a-f]{24}:)[0-9a-f]{64}(?![\w-])/y, fits: (_, length) => length === 64 },
  {
    kind: 'sanity',
    form: /sk[A-Za-z0-9]{178}(?![\w-])/y,
    fits: (first, length) => first === 's' && length === 180,
  },
  {
    kind: 'baseten',
    form: /(?<=(?<![\w.-])(?=[a-z\d]*[A-Z])(?=[A-Z\d]*[a-z])[A-Za-z\d]{8}\.)(?=[a-zA-Z]*\d)(?=[a-z\d]*[A-Z])(?=[A-Z\d]*[a-z])[A-Za-z\d]{32}(?![\w.-])/y,
    fits: (_, length) => length === 32,
  },
  {
    kind: 'wallet',
    form: /(?:5[HJK][1-9A-HJ-NP-Za-km-z]{49}|[KL][1-9A-HJ-NP-Za-km-z]{51})(?![\w/+=-])/y,
    fits: (first, length) => /[5KL]/.test(first) && (length === 51 || length === 52),
  },
  { kind: 'aws', form: /(?<=Signature=)[0-9a-f]{64}(?![\w-])/y, fits: (_, length) => length === 64 },
  {
    kind: 'ngrok',
    form: /[12][A-Za-z0-9]{26}_[A-Za-z0-9]{20,22}(?![\w-])/y,
    fits: (first, length) => /[12]/.test(first) && length >= 48 && length <= 50,
  },
  { kind: 'maxmind', form: /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![\w-])/y, fits: (_, length) => length === 40 },
  { kind: 'newrelic', form: /[0-9a-f]{36}NRAL(?![\w-])/y, fits: (_, length) => length === 40 },
  {
    kind: 'rapidapi',
    form: /[0-9a-f]{10}msh[0-9a-f]{15}p1[0-9a-f]{5}jsn[0-9a-f]{12}(?![\w-])/y,
    fits: (_, length) => length === 50,
  },
  {
    kind: 'okta',
    form: /00(?=[\w-]*[a-z])(?=[\w-]*[A-Z])(?=[\w-]*\d)[A-Za-z][\w-]{39}(?![\w-])/y,
    fits: (first, length) => first === '0' && length === 42,
  },
  {
    kind: 'vault',
    form: /(?<=(?<![\w.])s\.)(?=[A-Za-z]*\d[A-Za-z]*\d)(?=[a-z\d]*[A-Z])(?=[A-Z\d]*[a-z])[A-Za-z0-9]{24}(?![\w.-])/y,
    fits: (_, length) => length === 24,
  },
  {
    kind: 'azure',
    form: /[\w-]{40,56}AzFu[\w-]{6}={0,2}/y,
    fits: (_, length) => length >= 50 && length <= 66,
  },
  {
    kind: 'ably',
    form: /(?<=(?<![\w.-])[\w-]{6}\.[\w-]{6}:)[\w-]{43}(?![\w-])/y,
    fits: (_, length) => length === 43,
  },
  {
    kind: 'azure',
    form: /[A-Za-z0-9+/]{42}AzSe[A-Za-z0-9+/]{6}(?![\w+/=])|[A-Za-z0-9+/]{76}ACDb[A-Za-z0-9+/]{6}={0,2}/y,
    fits: (_, length) => length === 52 || (length >= 84 && length <= 88),
  },
  {
    kind: 'line',
    form: /[A-Za-z0-9+/]{156}\/1O\/w1cDnyilFU=/y,
    fits: (_, length) => length >= 160 && length <= 176,
  },
  {
    kind: 'ollama',
    form: /[0-9a-f]{32}\.[\w-]{32}(?![\w.-])/y,
    fits: (_, length) => length === 32,
  },
  { kind: 'pagerduty', form: /u\+[\w+-]{18}(?![\w-])/y, fits: (first, length) => first === 'u' && length === 20 },
]

const MAX_PATH = 400

/** @param start of a run of letters, digits, `_`, `-`, `+` and `/` */
export function findStructured(text: string, start: number, end: number, spans: RedactionSpan[]): void {
  // The letter of an escape sequence is not part of the token.
  const from = text[start - 1] === '\\' && /[nrt]/.test(text.charAt(start)) ? start + 1 : start
  findFrom(text, from, end, spans)
  if (end - from > MAX_PATH) return
  // In an address, other parts of the path come before it.
  let slash = end - 1
  while (slash >= from && text.charCodeAt(slash) !== 47) slash--
  if (slash >= from) findFrom(text, slash + 1, end, spans)
}

/** Forms by the length of a run and its first character: most runs have none. */
const KNOWN = new Map<number, readonly RunForm[]>()
const MAX_KNOWN_LENGTH = 200

function formsFor(first: number, length: number): readonly RunForm[] {
  const key = Math.min(length, MAX_KNOWN_LENGTH) * 128 + first
  let forms = KNOWN.get(key)
  if (!forms) {
    forms = FORMS.filter(({ fits }) => fits(String.fromCharCode(first), Math.min(length, MAX_KNOWN_LENGTH)))
    KNOWN.set(key, forms)
  }
  return forms
}

function findFrom(text: string, start: number, end: number, spans: RedactionSpan[]): void {
  for (const { kind, form } of formsFor(text.charCodeAt(start) & 127, end - start)) {
    form.lastIndex = start
    const found = form.exec(text)?.[0]
    if (found !== undefined && !isPlaceholder(found))
      spans.push({
        start: kind === 'telegram' || kind === 'ghost' ? startOfDigits(text, start - 1) : start,
        end: start + found.length,
        kind,
      })
  }
}

/** @param at of the colon behind the digits */
function startOfDigits(text: string, at: number): number {
  let start = at
  while (/[\da-f]/.test(text[start - 1] ?? '')) start--
  return start
}

/** What stands in the middle of a token: three characters of it, and the token around it. */
export const INFIX_TRIGGERS: ReadonlyMap<string, (text: string, at: number, spans: RedactionSpan[]) => void> = new Map([
  ...Array.from(
    '0123456789',
    (digit) =>
      [
        `${digit}q~`,
        (text: string, at: number, spans: RedactionSpan[]) => findAround(text, at, spans, 'azure', 3, AZURE_SECRET),
      ] as const,
  ),
  [
    '.at',
    (text: string, at: number, spans: RedactionSpan[]) => findAround(text, at, spans, 'terraform', 14, TERRAFORM),
  ] as const,
])

const AZURE_SECRET = /(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,36}(?![\w~-])/y
const TERRAFORM = /(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,90}/y

/** @param before the trigger, so many characters belong to the token */
function findAround(
  text: string,
  at: number,
  spans: RedactionSpan[],
  kind: string,
  before: number,
  form: RegExp,
): void {
  form.lastIndex = at - before
  const found = at < before ? undefined : form.exec(text)?.[0]
  if (found !== undefined && !isPlaceholder(found))
    spans.push({ start: at - before, end: at - before + found.length, kind })
}
