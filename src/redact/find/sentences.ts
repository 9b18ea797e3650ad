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
  /["'`*_”]{0,3}(?:(?:\s+(?:for|of|on)\s+[\w@ '-]{1,30})?\s*:(?!\S)|(?:\s+(?:for|of|on|to|in|at|from)\s+[^\n.:;=]{1,60}?)?\s+(?:is|was|are|lautet|ist|est|es|é|è|war|era|will be|should be|would be|must be|(?:has been|have been|was|were|is|got|gets) (?:set|changed|reset|updated) to|set to|changed to|reset to|to|being|equals?|goes like|reads))\s*(?:now\s+|still\s+|just\s+|simply\s+|currently\s+)?[:：]?\s*(["'`“‘*]{0,3})([^\s"'`“”‘’*]{4,400})(["'`”’*]?)/iy
const USED =
  /(["'`“‘*]{0,3})([^\s"'`“”‘’*]{4,200})["'`”’*,]{0,4}\s+(?:is|as|was|for|being)\s+(?:(?:the|my|your|our|its|their|a|an|his|her)\s+)?(?!not\s)(?:[\w-]{1,20}\s+){0,3}$/i

const MAY_BE_USED = /\s(?:is|as|was|for|being)\s/i

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
  // "Pass" is a verb, and a run through something.
  if (/^pass$/i.test(text.slice(start, end)) && (/\sto\s/.test(all) || !/\d.*[^a-z\d]|[^a-z\d].*\d/.test(value))) return
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

const PIN_SAID =
  /["'`*]{0,3}(?:\s+(?:for|of|on|to)\s+[^\n.:;=]{1,40}?)?(?:\s+(?:is|was)|\s*[:=])\s*["'`*]{0,3}(\d{4,8})(?![\w.,:/-]\w|\w)/iy

/** "My PIN is 2749": too short to be found elsewhere. Returns whether there is one. */
export function findPin(text: string, start: number, end: number, name: string, spans: RedactionSpan[]): boolean {
  const before = text.slice(Math.max(0, start - 24), start)
  const isPin =
    /^(?:pin|otp|passcode|mfa|totp)$/i.test(name) ||
    (/^(?:code|password)$/i.test(name) &&
      /(?:verification|security|auth(?:entication)?|2fa|login|sign-in|confirmation|recovery|access|one[- ]time|pin|mfa|otp)[ -]$/i.test(
        before,
      )) ||
    (/^(?:verification|authentication)$/i.test(name) && /^ code\b/i.test(text.slice(end, end + 6)))
  if (!isPin) return false
  PIN_SAID.lastIndex = /^(?:verification|authentication)$/i.test(name) ? end + 5 : end
  const at = PIN_SAID.lastIndex
  const said = PIN_SAID.exec(text)
  const value = said?.[1]
  if (!said || value === undefined || /^(\d)\1+$|^(?:1234|12345|123456|1234567|12345678)$/.test(value)) return false
  spans.push({ start: at + said[0].length - value.length, end: at + said[0].length, kind: 'setting' })
  return true
}

const GENERATED =
  /(?:password (?:is|was|for) [^\n:]{0,80}(?:generated|created|reset|set)[^\n:]{0,60}:[ \t]|password for [^\n]{0,60}(?:reset|created|generated|changed)[^\n]{0,40}\r?\n[ \t]*new value:[ \t])(\S{8,100})[ \t]*(?=\r?\n|$)/iy

/** "A temporary password is generated for root@localhost: …" */
export function findGenerated(text: string, at: number, spans: RedactionSpan[]): void {
  GENERATED.lastIndex = at
  const [all = '', value = ''] = GENERATED.exec(text) ?? []
  if (value === '' || !isSecretValue(value, 'password', 'sentence')) return
  spans.push({ start: at + all.length - value.length, end: at + all.length, kind: 'setting' })
}

const LOGIN =
  /(?:(?:log|sign)[ -]?(?:in|on)|cred(?:ential)?s|accounts?|test user)(?:\s+(?:with|as|using|is|are))?\s*:?\s+["'`]?([\w.@-]{2,60})["'`]?\s*(?:\/|:|\||,?\s+and|,?\s+with)\s*(?:(?:the\s+)?password\s+)?["'`]?([^\s"'`]{4,100})/iy

/** "Log in with mika / …" */
export function findLogin(text: string, at: number, spans: RedactionSpan[]): void {
  LOGIN.lastIndex = at
  const found = LOGIN.exec(text)
  const value = found?.[2]?.replace(/[.,;:!?)]+$/, '')
  if (!found || value === undefined || !/\d/.test(value) || !isSecretValue(value, 'password', 'sentence')) return
  // Names of projects and profiles are written like this, too.
  if (/^(?:account|cred|test)/i.test(found[0]) && !/[A-Z].*[a-z]|[a-z].*[A-Z]|[^\w-]/.test(value)) return
  const start = at + found[0].length - (found[2]?.length ?? 0)
  spans.push({ start, end: start + value.length, kind: 'setting' })
}

function findBefore(text: string, start: number, strength: NameStrength, spans: RedactionSpan[]): void {
  const from = Math.max(0, start - 160)
  const before = text.slice(from, start)
  const used =
    before.endsWith(' ') && MAY_BE_USED.test(before) ? USED.exec(before.slice(before.lastIndexOf('\n') + 1)) : null
  if (!used) return
  const [, opening = '', value = ''] = used
  const at = from + before.lastIndexOf('\n') + 1 + used.index + opening.length
  if (/^\W*$|^https?:/.test(value)) return
  if (isSecretValue(value, strength, opening === '' ? 'sentence' : 'quoted'))
    spans.push({ start: at, end: at + value.length, kind: 'setting' })
}

const JA_NAME =
  'パスワード|ﾊﾟｽﾜｰﾄﾞ|(?<![ァ-ヶー])パス(?=[はがを：:＝=])|(?:仮|初期|管理|ログイン|共通)パス(?!ワード)|トークン|ﾄｰｸﾝ|密码|密碼|口令|密钥|令牌|비밀번호|패스워드|암호|토큰|(?<![а-я])парол[ьяюе]|(?<![公開合])鍵(?=[はが：:＝=])|パスフレーズ|パスコード|合言葉|暗証番号|暗証コード|秘密鍵|秘密のキー|シークレット(?:キー)?|[AＡ][PＰ][IＩ]\\s?(?:キー|トークン|鍵)|アクセス(?:キー|トークン)|認証(?:キー|コード|トークン|情報)|トークン|クレデンシャル|ログイン情報|(?:この|次の|以下の)キー|ＰＩＮ|(?<![A-Za-z])PIN(?![A-Za-z])(?:コード|番号)?|ワンタイムパスワード|接続文字列|共有鍵|暗号化キー|署名キー|(?<![A-Za-z])PW(?![A-Za-z])|ＰＷ'
const JA_NAMES = new RegExp(JA_NAME, 'g')
/** ASCII between the name and the end of the value, which Japanese text or a blank ends. */
const JA_SAID =
  /(?:[（(][^）)\n]{0,30}[）)])?\s{0,4}(?:を(?:発行|設定|変更|リセット|更新)(?:しました|いたしました|した))?(?:は|を|が|も|に|には|として|(?:なん)?です(?:が|けど)|なので|を?使って|是|为|為|은|는|이|가|：|:|＝|=|→|⇒|—|、|\s){0,3}(?:次の(?:通り|とおり)|以下(?:の通り)?|こちら)?(?:です)?[:：。\s]{0,6}[「『"'`“【]?([\x21-\x7e]{4,400}?)(?=[」』"'`”】]|[^\x21-\x7e]|$)/y
/** 「mika / … でログイン」 */
const JA_LOGIN =
  /(?<![\x21-\x7e])[\w.@-]{2,60}\s*[/／:：|]\s*([\x21-\x7e]{6,100}?)\s*(?:で|にて)(?:ログイン|サインイン|入れ|認証)/g
const JA_LOGS_IN = /(?:で|にて)(?:ログイン|サインイン|入れ|認証)/
const JA_USED =
  /([\x21-\x7e]{4,200})[」』"'`”】]?\s{0,2}(?:が|を|という|は|って|、)\s{0,2}(?:[^\s。、\n\x21-\x7e]{0,12}の)?$/

/** Japanese, Chinese, Korean and Russian, where a name needs no blank or has no Latin letters. */
export function findInJapanese(text: string, spans: RedactionSpan[]): void {
  for (const found of JA_LOGS_IN.test(text) ? text.matchAll(JA_LOGIN) : [])
    if (/\d/.test(found[1] ?? '')) addJapanese('', found, found[0].lastIndexOf(found[1] ?? ''), found.index, spans)
  for (const { 0: name, index } of text.matchAll(JA_NAMES)) {
    JA_SAID.lastIndex = index + name.length
    const said = JA_SAID.exec(text)
    if (said) addJapanese(name, said, said[0].length - (said[1]?.length ?? 0), said.index, spans)
    const from = Math.max(0, index - 240)
    const used = JA_USED.exec(text.slice(from, index))
    if (used) addJapanese(name, used, 0, from + used.index, spans)
  }
}

const isPasswordNotPath = (value: string): boolean =>
  /\d/.test(value) &&
  /[^\w.]|_|[a-z\d][A-Z]/.test(value) &&
  !/[\\/]|\.[A-Za-z]\w{0,4}$|^[-@~.$%<{[]|^\w+[:=]/.test(value)

function addJapanese(name: string, found: RegExpExecArray, offset: number, at: number, spans: RedactionSpan[]): void {
  const [all, written = ''] = found
  const quotes = /^["'`]*/.exec(written)?.[0].length ?? 0
  const value = written.slice(quotes).replace(/["'`.,;:!?)]+$/, '')
  const start = at + offset + quotes
  const end = start + value.length
  if (/トークン$/.test(name) && value.includes(',')) return
  // 「パス」 is a path, too.
  if (name === 'パス' && !isPasswordNotPath(value)) return
  const isPin = /暗証|PIN|ＰＩＮ|パスコード|認証コード|ワンタイム/.test(name) && /^\d{4,8}$/.test(value)
  const isQuoted = /[「『"'`“【]/.test(all.charAt(offset - 1))
  const isWord = /^[A-Za-z]+$/.test(value)
  if (
    isPin ||
    isSecretValue(value, /鍵$|^..?.?キー$/.test(name) ? 'token' : 'password', isQuoted ? 'quoted' : 'sentence')
  )
    if (isPin || isQuoted || !isWord) spans.push({ start, end, kind: 'setting' })
}
