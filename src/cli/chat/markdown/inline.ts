/** Emphasis, code and links within a line of Markdown, as far as they can be told while more of the line may come. */
import type { Look, Span } from '../output/style.ts'

export interface Taken {
  readonly spans: readonly Span[]
  /** What cannot be told yet. */
  readonly rest: string
}

/** What a mark and its end span at most: more is not waited for, and a line full of marks does not cost its length squared. */
const MOST_SPANNED = 400

/** @param isWhole nothing follows any more @param previous the letter before the text */
export function takeInline(text: string, isWhole: boolean, looks: readonly Look[] = [], previous = ' '): Taken {
  const spans: Span[] = []
  let plain = ''
  let at = 0
  const flush = (): void => {
    if (plain !== '') spans.push({ text: plain, looks })
    plain = ''
  }
  while (at < text.length) {
    const rest = text.slice(at, at + MOST_SPANNED)
    const before = text[at - 1] ?? previous
    const found = MARKS.test(rest) ? markAt(rest, before, looks) : undefined
    const mayGrow = !isWhole && rest.length < MOST_SPANNED
    if (mayGrow && (found ? found.length === rest.length : mayBegin(rest, before))) break
    if (found) {
      flush()
      spans.push(...found.spans)
      at += found.length
      continue
    }
    const length = MARKS.test(rest)
      ? (/^(?:\*+|_+|~+|`+|!?\[|\\[\s\S]?|<)/.exec(rest)?.[0].length ?? 1)
      : plainLength(rest)
    plain += rest.slice(0, length)
    at += length
  }
  flush()
  return { spans, rest: text.slice(at) }
}

const MARKS = /^[*_~`![\\<]/

const plainLength = (text: string): number => /^[^*_~`![\\<]+/.exec(text)?.[0].length ?? 1

interface Found {
  readonly spans: readonly Span[]
  readonly length: number
}

const EMPHASIS: readonly { readonly form: RegExp; readonly looks: readonly Look[]; readonly isWord?: true }[] = [
  { form: /^\*\*\*(?=\S)([^*]*?\S)\*\*\*/, looks: ['bold', 'italic'] },
  { form: /^\*\*(?=\S)((?:[^*]|\*(?!\*))*?\S)\*\*(?!\*)/, looks: ['bold'] },
  { form: /^__(?=\S)((?:[^_]|_(?!_))*?\S)__(?![\p{L}\p{N}_])/u, looks: ['bold'], isWord: true },
  { form: /^\*(?=[^\s*])((?:[^*]|\*\*[^*]+\*\*)*?[^\s*])\*(?!\*)/, looks: ['italic'] },
  { form: /^_(?=[^\s_])([^_]*?[^\s_])_(?![\p{L}\p{N}_])/u, looks: ['italic'], isWord: true },
  { form: /^~~(?=\S)([^~]*?\S)~~/, looks: ['struck'] },
]

function markAt(text: string, before: string, looks: readonly Look[]): Found | undefined {
  const code = /^(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)/.exec(text)
  if (code) return { spans: [{ text: trimmed(code[2] ?? ''), looks: [...looks, 'code'] }], length: code[0].length }
  const escaped = /^\\([!-/:-@[-`{-~])/.exec(text)
  if (escaped) return { spans: [{ text: escaped[1] ?? '', looks }], length: 2 }
  const link = /^(!?)\[([^[\]]*)\]\(<?([^()\s>]*(?:\([^()\s]*\)[^()\s>]*)*)>?(?:\s+"[^"]*")?\)/.exec(text)
  if (link) return { spans: linkSpans(link[1] ?? '', link[2] ?? '', link[3] ?? '', looks), length: link[0].length }
  const auto = /^<((?:https?:\/\/|mailto:)[^\s<>]+)>/.exec(text)
  if (auto) return { spans: [{ text: auto[1] ?? '', looks: [...looks, 'link'] }], length: auto[0].length }
  for (const { form, looks: more, isWord } of EMPHASIS) {
    if (isWord && /[\p{L}\p{N}_]/u.test(before)) continue
    const found = form.exec(text)
    if (found) return { spans: takeInline(found[1] ?? '', true, [...looks, ...more]).spans, length: found[0].length }
  }
  return undefined
}

const trimmed = (code: string): string => (/^ .*[^ ].* $/.test(code) ? code.slice(1, -1) : code)

/** The address stands behind the words: there is nothing to click on in a pipe or a plain terminal. */
function linkSpans(image: string, words: string, address: string, looks: readonly Look[]): readonly Span[] {
  const shown = takeInline(image === '' ? words : `[image] ${words}`, true, [...looks, 'link']).spans
  return address === '' || address === words ? shown : [...shown, { text: ` (${address})`, looks: [...looks, 'dim'] }]
}

/** Could become a mark when more comes. */
function mayBegin(rest: string, before: string): boolean {
  if (!MARKS.test(rest)) return false
  if (rest.length === 1 || /^(?:`|[*~]+(?!\s)|<[hm][^\s<>]*$)/.test(rest)) return true
  if (rest.startsWith('_')) return /^_+(?!\s)/.test(rest) && !/[\p{L}\p{N}_]/u.test(before)
  return /^!?(?:$|\[[^[\]]*(?:$|\](?:$|\((?:[^()]|\([^()]*(?:\)|$))*$)))/.test(rest)
}
