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
  { kind: 'zhipu', form: /[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![\w.-])/y, fits: (_, length) => length === 32 },
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
  { kind: 'azure', form: /[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}(?![A-Za-z0-9])/y, fits: (_, length) => length === 84 },
  {
    kind: 'ngrok',
    form: /[12][A-Za-z0-9]{26}_[A-Za-z0-9]{20,22}(?![\w-])/y,
    fits: (first, length) => /[12]/.test(first) && length >= 48 && length <= 50,
  },
  { kind: 'maxmind', form: /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![\w-])/y, fits: (_, length) => length === 40 },
  { kind: 'newrelic', form: /[0-9a-f]{36}NRAL(?![\w-])/y, fits: (_, length) => length === 40 },
  { kind: 'pagerduty', form: /u\+[\w+-]{18}(?![\w-])/y, fits: (first, length) => first === 'u' && length === 20 },
]

/** @param start of a run of letters, digits, `_`, `-`, `+` and `/` */
export function findStructured(text: string, start: number, end: number, spans: RedactionSpan[]): void {
  const first = text.charAt(start)
  for (const { kind, form, fits } of FORMS) {
    if (!fits(first, end - start)) continue
    form.lastIndex = start
    const found = form.exec(text)?.[0]
    if (found !== undefined && !isPlaceholder(found))
      spans.push({
        start: kind === 'telegram' ? startOfDigits(text, start - 1) : start,
        end: start + found.length,
        kind,
      })
  }
}

/** @param at of the colon behind the digits */
function startOfDigits(text: string, at: number): number {
  let start = at
  while (/\d/.test(text[start - 1] ?? '')) start--
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
