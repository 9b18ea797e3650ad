/** Decides by a name (`DB_PASSWORD`, `apiKey`, `X-Auth-Token`) whether its value is a secret. */
import { splitWords } from './placeholder.ts'

/**
 * `password`: any value is. `strong`: any value that is not a word. `token`: what looks random. `weak`: only what cannot
 * be anything else.
 */
export type NameStrength = 'password' | 'strong' | 'token' | 'weak'

const set = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

const PASSWORD_WORDS = set(
  'password passwd passphrase passcode passwort kennwort pwd pswd passwrd pword pw pass contraseña senha motdepasse mdp wachtwoord userpass dbpass userpassword storepass keypass keystorepass requirepass masterauth passw psk wpapsk rootpw bindpw adminpw adminpass sshpass',
)
const STRONG_WORDS = set(
  'secret secrets apikey apikeys accesskey secretkey privatekey authtoken accesstoken refreshtoken clientsecret authkey appkey appsecret apisecret apitoken bearertoken signingkey encryptionkey masterkey mnemonic seedphrase credential credentials cred creds licensekey consumersecret usertoken personalaccesstoken',
)
/** Words that make a key a secret. */
const KEY_QUALIFIERS = set(
  'api access secret private auth client signing encryption encrypt decryption master account storage service subscription license app application deploy webhook hmac jwt shared integration management admin root recovery backup write server ingest ingestion security cipher crypto aes des session cookie signature developer consumer personal functions function host host wallet rsa ssl tls pem activation product serial hash2 salt vapid instrumentation',
)
/** Directly before `key`, whatever comes earlier: `config.secret_key`, `data_encryption_key`. */
const MAKES_SECRET = set('api secret private signing encryption decryption hmac jwt wallet')
const PUBLIC = set('public pub publishable primary foreign gpg pgp site')
/** Words that show that a key is none: it finds something. */
const KEY_OF_DATA = set(
  'public primary foreign cache sort partition object group query row dedupe s3 lookup map translation registry index hot dict idempotency publishable unique composite candidate natural column table range bucket prefix root2 shortcut keyboard arrow modifier press enter tab ctrl meta alt shift function2 dedup routing message i18n locale react list item node data json property attribute yaml toml header param parameter field config argument tag label metric event topic kafka shard hash verification verify prompt gpg pgp release error',
)
const TOKEN_WORDS = set(
  'token tokens jwt bearer otp totp pat authorization sessionid phpsessid jsessionid sessid sessiontoken usertoken',
)
const WEAK_WORDS = set('key keys auth cookie session sess sid signature sig salt seed pin code csrf xsrf nonce webhook')
/** If a name ends with one of them, its value is something about a secret. */
const ABOUT = set(
  `id ids name names type types count counts length len size limit limits max min path paths file files filename dir directory folder url urls uri endpoint host port
expires expiry expiration expired ttl age at time date timeout policy policies pattern regex regexp format version prefix suffix label placeholder hint
help text title description desc message msg error errors field fields input form column required enabled disabled valid invalid
rotation manager store provider ref reference header parser usage budget window ratio rate per index idx offset position
status state method func function callback handler class schema model role roles scope scopes arn alias strength rules
changed updated created reset hidden visible visibility show toggle mode kind source target algorithm alg strategy separator delimiter
tokenizer tokenization cost price used remaining total left input output cached prompt completion reasoning ids env var variable variables
list array map set dict object parameter param arg args option options flag page screen view link button icon component props service account
requirements complexity managers generator validator validation checker check`,
)
const NUMBERS_ABOUT = set(
  'max min total num number count input output cached prompt completion reasoning context used remaining last is has no use show hide toggle forgot reset change confirm2 with without per total',
)

const cache = new Map<string, NameStrength | undefined>()
const MAX_CACHED = 20_000

/** Undefined for names of anything else. */
export function strengthOfName(name: string): NameStrength | undefined {
  const known = cache.get(name)
  if (known !== undefined || cache.has(name)) return known
  const strength = judge(splitWords(name).filter((word) => !/^\d+$/.test(word)))
  if (cache.size >= MAX_CACHED) cache.clear()
  cache.set(name, strength)
  return strength
}

function judge(words: readonly string[]): NameStrength | undefined {
  const last = lastWord(words)
  if (last === undefined || words.length > 12) return undefined
  const before = words.slice(0, words.lastIndexOf(last))
  const previous = before.at(-1) ?? ''
  if (NUMBERS_ABOUT.has(words[0] ?? '') && last !== 'password') return undefined
  if (PASSWORD_WORDS.has(last) || /(?:passw(?:or)?d|passphrase|passwd|pwd|(?:store|key)pass)$/.test(last))
    return 'password'
  if (last === 'word' && previous === 'pass') return 'password'
  if (STRONG_WORDS.has(last) || /(?:secret|apikey|accesskey|secretkey|privatekey|authtoken|accesstoken)$/.test(last))
    return 'strong'
  if (last === 'key' || last === 'keys') return strengthOfKey(before)
  if (last === 'string' && previous === 'connection') return 'weak'
  if (last === 'data' && previous === 'key') return 'strong'
  if (last === 'private' && /key$/.test(previous)) return 'strong'
  if (last === 'base' && previous === 'key') return 'strong'
  if ((last === 'phrase' || last === 'words') && ['seed', 'recovery', 'pass', 'mnemonic', 'secret'].includes(previous))
    return 'strong'
  if (
    last === 'code' &&
    ['auth', 'authorization', 'verification', 'security', 'recovery', 'backup', 'pin', 'mfa', 'otp'].includes(previous)
  )
    return 'token'
  if (TOKEN_WORDS.has(last) || /(?:token|jwt)$/.test(last)) return 'token'
  if (last === 'sid' && previous === 'connect') return 'token'
  if ((last === 'session' || last === 'sess') && before.length > 0) return 'weak'
  return WEAK_WORDS.has(last) && !(before.length === 0 && last.startsWith('sess')) ? 'weak' : undefined
}

/** Skips what does not change the meaning: `API_KEY_PROD`, `passwordValue`. */
function lastWord(words: readonly string[]): string | undefined {
  for (let at = words.length - 1; at >= 0 && at >= words.length - 3; at--) {
    const word = words[at] ?? ''
    if (ABOUT.has(word)) return undefined
    if (!NEUTRAL.has(word)) return word
  }
  return undefined
}

const NEUTRAL = set(
  'value val str string raw plain plaintext b64 base64 encoded prod production dev development staging stage test live old new current previous next backup default primary secondary main first second local remote admin root db database a b c x v v1 v2 s',
)

function strengthOfKey(before: readonly string[]): NameStrength | undefined {
  if (before.some((word) => PUBLIC.has(word))) return undefined
  if (MAKES_SECRET.has(before.at(-1) ?? '')) return 'strong'
  if (before.some((word) => KEY_OF_DATA.has(word))) return 'weak'
  if (before.some((word) => KEY_QUALIFIERS.has(word) || STRONG_WORDS.has(word))) return 'strong'
  return before.length > 0 ? 'token' : 'weak'
}
