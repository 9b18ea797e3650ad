/** Finds secrets in prose: "the password is …", "use … as the password", 「パスワードは…です」. */
import { isSecretValue } from './plausible-value.ts'
import type { NameStrength } from './secret-names.ts'
import type { RedactionSpan } from './span.ts'

interface NameInProse {
  readonly start: number
  readonly end: number
  readonly strength: NameStrength
}

const SAID =
  /["'`*_”]{0,3}(?:\s+(?:for|of|on|to|in|at|from)\s+[^\n.:;=]{1,60}?)?\s+(?:is|was|are|will be|should be|would be|must be|has been (?:set|changed|reset) to|set to|changed to|reset to|to|being|equals?|goes like|reads|:)\s*(?:now\s+|still\s+|just\s+|simply\s+|currently\s+)?[:：]?\s*(["'`“‘*]{0,3})([^\s"'`“”‘’*]{4,400})(["'`”’*]?)/iy
const USED =
  /(["'`“‘*]{0,3})([^\s"'`“”‘’*]{4,200})["'`”’*,]{0,4}\s+(?:is|as|was|for|being)\s+(?:(?:the|my|your|our|its|their|a|an|his|her)\s+)?(?:[\w-]{1,20}\s+){0,3}$/i

/** Looks behind the name, then before it. */
export function findInSentence(text: string, { start, end, strength }: NameInProse, spans: RedactionSpan[]): void {
  if (text[end] !== ' ' && !/["'`*_”]/.test(text[end] ?? '')) return findBefore(text, start, strength, spans)
  SAID.lastIndex = end
  const said = SAID.exec(text)
  if (!said) return findBefore(text, start, strength, spans)
  const [all, opening = '', written = '', closing = ''] = said
  const value = opening === '' ? written.replace(/[.,;:!?)\]。、]+$/, '') : written
  const from = end + all.length - closing.length - written.length
  const isQuoted = opening !== '' && closing !== ''
  const isWord =
    strength === 'password' && IS_SAID.test(all) && isUnusualWord(value) && ENDS.test(text.slice(from + value.length))
  if (isSecretValue(value, strength, isQuoted ? 'quoted' : 'sentence') || isWord)
    spans.push({ start: from, end: from + value.length, kind: 'setting' })
}

const IS_SAID = /\sis\s/i
/** The end of a sentence, so that the word is not the beginning of a description. */
const ENDS = /^["'`”]?(?:[.!。](?:\s|$)|\s*$|\s*\n)/
/** Ends of words that describe a password. */
const DESCRIBES =
  /(?:ed|ing|ly|able|ible|ful|less|ive|ous|ent|ant|ary|ory|al|ic|own|set|ten|ken|ure|ong|ort|eak|ple|plex|que|ect|ent|fe|mon)$/

const isUnusualWord = (value: string): boolean =>
  /^[a-z]{6,20}$/.test(value) && !DESCRIBES.test(value) && isSecretValue(value, 'password', 'quoted')

const LOGIN =
  /(?:log|sign)[ -]?(?:in|on)(?:\s+(?:with|as|using|is))?\s*:?\s+["'`]?([\w.@-]{2,60})["'`]?\s*(?:\/|:|\||,?\s+and|,?\s+with)\s*(?:(?:the\s+)?password\s+)?["'`]?([^\s"'`]{4,100})/iy

/** "Log in with mika / …" */
export function findLogin(text: string, at: number, spans: RedactionSpan[]): void {
  LOGIN.lastIndex = at
  const found = LOGIN.exec(text)
  const value = found?.[2]?.replace(/[.,;:!?)]+$/, '')
  if (!found || value === undefined || !/\d/.test(value) || !isSecretValue(value, 'password', 'sentence')) return
  const start = at + found[0].length - (found[2]?.length ?? 0)
  spans.push({ start, end: start + value.length, kind: 'setting' })
}

function findBefore(text: string, start: number, strength: NameStrength, spans: RedactionSpan[]): void {
  const from = Math.max(0, start - 160)
  const before = text.slice(from, start)
  const used = before.endsWith(' ') ? USED.exec(before.slice(before.lastIndexOf('\n') + 1)) : null
  if (!used) return
  const [, opening = '', value = ''] = used
  const at = from + before.lastIndexOf('\n') + 1 + used.index + opening.length
  if (/^\W*$|^https?:/.test(value)) return
  if (isSecretValue(value, strength, opening === '' ? 'sentence' : 'quoted'))
    spans.push({ start: at, end: at + value.length, kind: 'setting' })
}

const JA_NAME =
  'パスワード|パスフレーズ|パスコード|合言葉|暗証番号|暗証コード|秘密鍵|秘密のキー|シークレット(?:キー)?|[AＡ][PＰ][IＩ]\\s?(?:キー|トークン|鍵)|アクセス(?:キー|トークン)|認証(?:キー|コード|トークン|情報)|トークン|クレデンシャル|ログイン情報|ＰＩＮ|(?<![A-Za-z])PIN(?![A-Za-z])(?:コード|番号)?|ワンタイムパスワード|接続文字列|共有鍵|暗号化キー|署名キー|(?<![A-Za-z])PW(?![A-Za-z])|ＰＷ'
const JA_NAMES = new RegExp(JA_NAME, 'g')
/** ASCII between the name and the end of the value, which Japanese text or a blank ends. */
const JA_SAID =
  /(?:[（(][^）)\n]{0,30}[）)])?\s{0,4}(?:は|を|が|も|に|には|として|：|:|＝|=|→|⇒|、|\s){0,3}(?:次の(?:通り|とおり)|以下(?:の通り)?|こちら)?(?:です)?[:：。\s]{0,6}[「『"'`“【]?([\x21-\x7e]{4,400}?)(?=[」』"'`”】]|[^\x21-\x7e]|$)/y
const JA_USED =
  /([\x21-\x7e]{4,200})[」』"'`”】]?\s{0,2}(?:が|を|という|は|って|、)\s{0,2}(?:[^\s。、\n\x21-\x7e]{0,12}の)?$/

/** Japanese, where a name needs no blank. */
export function findInJapanese(text: string, spans: RedactionSpan[]): void {
  for (const { 0: name, index } of text.matchAll(JA_NAMES)) {
    JA_SAID.lastIndex = index + name.length
    const said = JA_SAID.exec(text)
    if (said) addJapanese(name, said, said[0].length - (said[1]?.length ?? 0), said.index, spans)
    const from = Math.max(0, index - 240)
    const used = JA_USED.exec(text.slice(from, index))
    if (used) addJapanese(name, used, 0, from + used.index, spans)
  }
}

function addJapanese(name: string, found: RegExpExecArray, offset: number, at: number, spans: RedactionSpan[]): void {
  const [all, written = ''] = found
  const quotes = /^["'`]*/.exec(written)?.[0].length ?? 0
  const value = written.slice(quotes).replace(/["'`.,;:!?)]+$/, '')
  const start = at + offset + quotes
  const end = start + value.length
  const isPin = /暗証|PIN|ＰＩＮ|パスコード|認証コード|ワンタイム/.test(name) && /^\d{4,8}$/.test(value)
  const isQuoted = /[「『"'`“【]/.test(all.charAt(offset - 1))
  const isWord = /^[A-Za-z]+$/.test(value)
  if (isPin || isSecretValue(value, 'password', isQuoted ? 'quoted' : 'sentence'))
    if (isPin || isQuoted || !isWord) spans.push({ start, end, kind: 'setting' })
}
