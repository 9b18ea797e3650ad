/** Recognizes values that stand for a secret: placeholders, masks, references, and keys that documentation publishes. */
import { sha256 } from '../../lib/hash.ts'

/** What people write where a reader should put a value of their own. */
const PLACEHOLDER_WORDS =
  /example|placeholder|redacted|change[-_ ]?(?:me|this|it)|dummy|replace[-_ ]?(?:me|this|with)|your[-_ ]|[-_<[{]your|\byour|insert[-_ ]|x{5,}|\*{3,}|•{2,}|…|\.{3}|<[a-z_ -]+>|not[-_ ]?a[-_ ]?real|no[-_ ]?secret|lorem|goes[-_ ]?here|[-_]here$|fake|sample|notreal|deadbeef|^todo|^tbd|hidden|omitted|masked|censored/i
/** Only if nothing else is in the value. */
const FILLER_WORDS = new Set(
  `my our the a an test tests testing demo foo bar baz qux mock stub example key keys apikey api token tokens secret secrets pass password
passwd passphrase pwd value values string text data name user username users admin root guest local localhost dev development prod production
staging default none null nil undefined empty blank some any new old current real valid invalid wrong bad good correct incorrect right strong
weak super top private public secure access refresh client app application server service db database mysql postgres postgresql redis mongo mongodb
rabbitmq minio elastic mariadb oracle sa auth authorization bearer basic credential credentials account id file path env var config setting settings field
input output label title header cookie session jwt oauth abc abcd xxx yyy zzz aaa bbb ccc enter type here this that is your with from for and or in of to
login signup hello world temp tmp random unknown required optional true false yes no on off
please set provide use github gitlab openai anthropic aws azure google stripe slack sk pk ghp xoxb live pat placeholder sample fake ignored unused anything whatever something nothing
one two three super long short first second last other another string`.split(/\s+/),
)
const ORDERED = '01234567890123456789abcdefghijklmnopqrstuvwxyza ABCDEFGHIJKLMNOPQRSTUVWXYZA 9a'
const OWN_PLACEHOLDER = /^\[?redacted-[a-z]+-?\d*\]?|\[redacted-/

/** Keys that vendors publish in documentation and emulators, and every reader therefore knows: hashes of them. */
const PUBLISHED_KEYS = new Set([
  ...['0011cc25eb432071', 'aa6547439583c3a2'], // emulators of Azure Storage and Cosmos DB
  ...['2cafc0970149a84f', 'f2d6ca16515033e5', '7e8de44ea9ecf6d5'], // Stripe
  ...['7f75367e78812551', '52d33e4911386f2d', 'c794fa6d20c64efb'], // jwt.io
  ...['3543c50b0cb9cea8'], // GitHub
  ...['f5e95c9954635b65', 'fb8f35129df87662'], // reCAPTCHA, Turnstile
  ...['cf4d418ed3de92d7', '73f71af093fdf154', '15cef4b629cc2d07', 'b8e148545b13c78b', 'ad71fb4165536675'], // RFCs 2617, 7617, 6455, 6750
  ...['8b6b6a5226c96d1d'], // Vault
])

export function isPlaceholder(value: string): boolean {
  if (OWN_PLACEHOLDER.test(value) || (value.length <= 200 && PLACEHOLDER_WORDS.test(value))) return true
  const core = value.replace(/[\s_.:/+=-]+/g, '')
  if (core.length === 0 || hasFewCharacters(core) || isOrdered(core) || isRepeated(core)) return true
  return areFillerWords(value) || PUBLISHED_KEYS.has(sha256(value).slice(0, 16))
}

/** `xxxxxxxx`, `00000000`, `abababab`. */
function hasFewCharacters(core: string): boolean {
  const distinct = new Set(core).size
  return core.length >= 6 ? distinct <= 2 || (core.length >= 16 && distinct <= 4) : distinct === 1
}

/** `12345678`, `abcdefgh`, `1234567890abcdef`. */
function isOrdered(core: string): boolean {
  if (core.length < 4) return false
  let best = 0
  for (let at = 0; at < core.length; ) {
    let length = 1
    while (at + length < core.length && isNext(core.charAt(at + length - 1), core.charAt(at + length))) length++
    if (length >= 4) best += length
    at += length
  }
  return best >= core.length * 0.75
}

const isNext = (a: string, b: string): boolean => ORDERED.includes(a + b)

function isRepeated(core: string): boolean {
  for (let size = 1; size <= 8 && size * 3 <= core.length; size++)
    if (
      core ===
      core
        .slice(0, size)
        .repeat(Math.ceil(core.length / size))
        .slice(0, core.length)
    )
      return true
  return false
}

function areFillerWords(value: string): boolean {
  const words = splitWords(value)
  return words.length > 0 && words.every((word) => FILLER_WORDS.has(word) || /^\d{1,4}$/.test(word))
}

/** Words of a name in any style: `DB_PASSWORD`, `dbPassword`, `db-password`. */
export function splitWords(name: string): readonly string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replace(/([A-Za-z])(\d)/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

const REFERENCE = new RegExp(
  [
    String.raw`^\$[A-Za-z_({]`, // $NAME, ${NAME}, $(command)
    String.raw`^\$\d{0,2}$`,
    String.raw`^%[\w ]+%$|^(?:%[sdvq][:/@ -]?)+$|^%\(`,
    String.raw`^#\{|^<[^>]*>?$|^\{\{?|^\[\w*\]?$|^!\w+|^@\w+@?$|^:\w+$|^&\w`,
    String.raw`(?:process|os|import|env|meta|config|cfg|settings|secrets|vars|props|args|opts|options|params|self|this|data|local|var|module|req|request|res|response|ctx|context|event|input|user|body|form|state|inputs|github|steps|matrix|std|sys|app|Deno|Bun|System|Environment)\??\.[A-Za-z_$]`,
    String.raw`^(?:op|vault|awssm|gcpsm|ref\+\w+|file|env|keychain|sops|ssm|secret|secretsmanager)://?`,
    String.raw`^(?:vault|env|ref|file|secretRef|keyvaultref|arn|projects|aws|gcp):\S`,
    '^(?:arn:aws|projects/)',
    String.raw`^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*\?\.[A-Za-z_$[(]`, // optional chaining
    String.raw`\$\{\{?|\{\{|\$\(|^%\{|\$env:|(?<![A-Za-z\d])\$[A-Z_]{3,}`,
    String.raw`^(?:\.{0,2}|~|[A-Za-z]:)[\\/](?:[\w.@ -]+[\\/])*[\w.@ -]*$`, // paths
    String.raw`^https?://[^@\s]*$`,
    // regular expressions
    String.raw`\[[a-zA-Z0]-[zZ9f]|\(\?[:=!<]|\\[dws][+*{)]|^/.*/[a-z]*$`,
    String.raw`^(?:getenv|env|environ|lookup|fetch|get|read|load|new|await|function|async|require|typeof|void)\b`,
  ].join('|'),
)

/** A variable, a template, a path or an address: where a secret is, not what it is. */
export const isReference = (value: string): boolean => REFERENCE.test(value) && !BEGINS_WITH_SLASH.test(value)

/** A secret key of AWS that looks like a path. */
const BEGINS_WITH_SLASH = /^(?=(?:.*\d){3})(?=(?:.*[a-z]){5})(?=(?:.*[A-Z]){5})\/[A-Za-z0-9/+]{39}$/
